/** @jsxImportSource preact */
import { api } from "../api/client.ts";
import { session } from "../api/session.ts";
import { useResource } from "./resource.ts";
import { Time } from "./time.tsx";

/** Says that no mail leaves the server: an operator has paused it, or it has no relay, and its emails are only shown as delivered. */
export function CaptureNote() {
  const { dev = false, capturesMail = false } = session.value ?? {};
  const { data } = useResource((signal) => api.me.get({ signal }), []);
  const pausedAt = data?.server.pausedAt ?? null;
  return (
    <>
      {pausedAt === null ? null : (
        <div class="note bad">
          <strong>Sending is paused</strong>
          <p>
            The operator of this server paused it on <Time at={pausedAt} exactly />. Mail is accepted and waits.
          </p>
        </div>
      )}
      {dev || !capturesMail ? null : (
        <div class="note bad">
          <strong>Nobody gets this mail</strong>
          <p>
            This server has no mail server to send through, so it captures all mail. Start it with <code>--smtp-url</code>, or add a relay.
          </p>
        </div>
      )}
    </>
  );
}
