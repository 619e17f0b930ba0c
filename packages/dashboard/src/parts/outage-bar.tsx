/** @jsxImportSource preact */
import { isServerGone } from "../api/outage.ts";

/** Says across the page that the server does not answer, as long as that is so. */
export function OutageBar() {
  return (
    <div class="outage" role="alert">
      {isServerGone.value ? (
        <p>
          <strong>The server does not answer.</strong> What you have typed stays here. This page goes on by itself when the server is back.
        </p>
      ) : null}
    </div>
  );
}
