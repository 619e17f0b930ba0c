import type { EmailStatus } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import type { Deps } from "../deps.ts";
import { recordEvents } from "../events/events.ts";
import { type EmailPatch, type EmailRow, type FromStates, updateEmail } from "./store.ts";

/*
 * The states of an email. Rows: state. Columns: what happens. `–` leaves the state as it is.
 *
 * |            | claimed   | accepted  | delivered   | 4xx, lost  | no attempt | 5xx       | cancel      | address      | complaint    |
 * |            | (SMTP)    | (250)     | (capture)   | connection | left       |           |             | suppressed   |              |
 * | ---------- | --------- | --------- | ----------- | ---------- | ---------- | --------- | ----------- | ------------ | ------------ |
 * | queued     | sending   | –         | delivered   | deferred   | failed     | bounced   | cancelled   | suppressed   | –            |
 * | deferred   | sending   | –         | delivered   | deferred   | failed     | bounced   | cancelled   | suppressed   | –            |
 * | sending    | sending¹  | sent      | delivered²  | deferred³  | failed     | bounced   | –           | suppressed   | –            |
 * | sent       | –         | –         | –           | –          | –          | –         | –           | –            | complained   |
 * | delivered  | –         | –         | –           | –          | –          | –         | –           | –            | complained   |
 *
 * suppressed, bounced, complained, failed, skipped and cancelled are final. Only recipients of campaigns are skipped. Over SMTP an outcome is stored only for `sending`.
 *
 * 1. After a crash: the email is in doubt and is sent again under the same Message-ID.
 * 2. A process that sent over SMTP died, and the next one captures mail.
 * 3. In doubt if the connection was lost after the whole message was written.
 */

/** States in which an email can be cancelled. */
export const WAITING: readonly [EmailStatus, EmailStatus] = ["queued", "deferred"];

/** States in which an email is still to be delivered. */
export const OPEN: readonly [EmailStatus, EmailStatus, EmailStatus] = [...WAITING, "sending"];

/** Records that an email was accepted. */
export function recordQueued(
  tx: Tx,
  deps: Deps,
  { workspaceId, id, createdAt }: Pick<EmailRow, "workspaceId" | "id" | "createdAt">,
): Promise<void> {
  return recordEvents(tx, deps, [{ workspaceId, type: "email.queued", emailId: id, at: createdAt }]);
}

/**
 * Moves an email, as it was read, from one of the states in `from` to another; false if another process was faster.
 *
 * An email that goes out at once leaves `queued` some milliseconds after it was accepted, so its `email.queued` event is
 * written then: it would cost accepting it a third more. A scheduled email has the event from the start.
 */
export async function transition(
  tx: Tx,
  deps: Deps,
  email: EmailRow,
  from: FromStates,
  patch: EmailPatch & { status: EmailStatus },
): Promise<boolean> {
  if (!(await updateEmail(tx, email, from, patch))) return false;
  if (email.status === "queued" && email.scheduledAt === null) await recordQueued(tx, deps, email);
  return true;
}
