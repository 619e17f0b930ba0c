import { addressKey, type Email } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import { ApiError, invalid, notFound } from "../lib/api-error.ts";
import type { EmailDeps } from "./deps.ts";
import { announceEmails } from "./schedule.ts";
import { showEmail } from "./show.ts";
import { type EmailRow, findMail, patchEmail, updateEmails } from "./store.ts";

/**
 * Lets a deferred mail be tried again at once: all of its deferred recipients, or the one that is named. One that is due already stays as
 * it is, so a repeated call changes nothing (docs/emails.md#states). Throws ApiError not_found, validation_error for somebody who is not a
 * recipient, and invalid_state if nobody is deferred.
 */
export async function requeueEmail(tx: Tx, deps: EmailDeps, workspaceId: string, id: string, to: string | undefined): Promise<Email> {
  const mail = await findMail(tx, workspaceId, id);
  if (!mail) throw notFound("email", id);
  const named = mail.emails.filter(({ toKey }) => to === undefined || toKey === addressKey(to));
  if (named.length === 0) throw invalid("to", "not_a_recipient", `${to} is not a recipient of this email.`);
  const deferred = named.filter(({ status }) => status === "deferred");
  if (deferred.length === 0) throw notDeferred(named);
  await requeueRows(tx, deps, deferred);
  return showEmail((await findMail(tx, workspaceId, id)) ?? mail);
}

/** Makes deferred emails due. */
export async function requeueRows(tx: Tx, deps: Pick<EmailDeps, "clock" | "queue">, emails: readonly EmailRow[]): Promise<void> {
  const now = deps.clock.now();
  const patch = { nextAttemptAt: now, updatedAt: now };
  // One without an instant waits for a campaign.
  const waiting = emails.filter(({ nextAttemptAt }) => nextAttemptAt !== null && nextAttemptAt > now);
  const updated = await updateEmails(
    tx,
    waiting.map((email) => ({ email, patch })),
  );
  const due = waiting.flatMap((email, i) => (updated[i] ? patchEmail(email, patch) : []));
  await announceEmails(tx, deps, due);
}

function notDeferred(emails: readonly EmailRow[]): ApiError {
  const states = [...new Set(emails.map(({ status }) => status))].join(" and ");
  const over = emails.some(({ status }) => status === "failed" || status === "bounced");
  return new ApiError("invalid_state", `This email is ${states}. Only deferred emails can be requeued.`, {
    ...(over && { hint: "An email that was refused for good or given up is not tried again. Send it again as a new one." }),
  });
}
