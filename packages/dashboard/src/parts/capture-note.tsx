/** @jsxImportSource preact */
import { session } from "../api/session.ts";

/** Warns on a production server without a relay: its emails are shown as delivered, but no recipient gets them. */
export function CaptureNote() {
  const { dev = false, capturesMail = false } = session.value ?? {};
  if (dev || !capturesMail) return null;
  return (
    <div class="note bad">
      <strong>Nobody gets this mail</strong>
      <p>
        This server has no mail server to send through, so it captures all mail. Start it with <code>--smtp-url</code>, or add a relay.
      </p>
    </div>
  );
}
