import { addressKey } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import { assumeEmailHeld } from "../db/held.ts";
import { type EmailRow, findEmailById, findRecipientById, holdEmail, OPEN, transition } from "../emails/emails.ts";
import { recordEvents } from "../events/events.ts";
import { isTestMail } from "../lib/ids.ts";
import type { DeliveryError } from "../mail/mailer.ts";
import { suppress } from "../suppressions/suppressions.ts";
import { unsubscribe } from "../unsubscribe/unsubscribe.ts";
import type { InboundDeps } from "./deps.ts";
import { rememberReport } from "./known-reports.ts";
import type { Report, ReportOutcome } from "./report.ts";

/** Effect of a report; `ignored` if it is known already, or about an email that is unknown or has ended in another way. */
type Applied = "applied" | "ignored" | "too-early";

/*
 * Effects of a report on an email.
 *
 * | email                        | delivered | deferred    | bounced | complained | unsubscribed |
 * | ---------------------------- | --------- | ----------- | ------- | ---------- | ------------ |
 * | queued, deferred, sending    | too early | too early   | too early | too early | too early    |
 * | sent                         | delivered | event only  | bounced | complained | event only   |
 * | delivered                    | –         | –           | bounced | complained | event only   |
 * | bounced                      | –         | –           | –       | –          | event only   |
 * | all others                   | –         | –           | –       | –          | event only   |
 *
 * The address of a complaint is suppressed also if the email has bounced, and that of an unsubscribe in every case.
 * Too early: the report came before the reply of the next hop was stored. Nothing is stored, and the other side sends it again.
 */

/**
 * Applies reports to their emails, each once: a report with a known key changes nothing. If one is too early, the others are applied
 * nevertheless. If the reports come for one workspace, those about mail of another one are ignored.
 */
export async function applyReports(tx: Tx, deps: InboundDeps, reports: readonly Report[], workspaceId: string | null): Promise<Applied[]> {
  const results: Applied[] = [];
  for (const report of reports) results.push(await applyReport(tx, deps, report, workspaceId));
  return results;
}

async function applyReport(tx: Tx, deps: InboundDeps, report: Report, workspaceId: string | null): Promise<Applied> {
  const email = await findReported(tx, report);
  // Test mail has not left: what reports say of it is made up.
  if (!email || isTestMail(email.id) || (workspaceId !== null && email.workspaceId !== workspaceId)) return "ignored";
  if (OPEN.includes(email.status)) return "too-early";
  // The provider of one workspace must not be able to use up the key of another one's report.
  const text = workspaceId === null ? report.key : `${workspaceId} ${report.key}`;
  if (!(await rememberReport(tx, { mailedAt: email.createdAt, text }, deps.clock.now()))) return "ignored";
  return (await applyOutcome(tx, deps, email, report)) ? "applied" : "ignored";
}

/** The email that a report is about; null if it is unknown, or a mail to several recipients of which the report names none. */
async function findReported(tx: Tx, { emailId, recipient }: Report): Promise<EmailRow | null> {
  const email = await findEmailById(tx, emailId);
  if (recipient === undefined || (email !== null && email.mailId === null)) return email;
  return recipient === null ? null : findRecipientById(tx, emailId, addressKey(recipient));
}

/** False if it does not concern the email any more. */
function applyOutcome(tx: Tx, deps: InboundDeps, email: EmailRow, { outcome, source }: Report): Promise<boolean> {
  switch (outcome.kind) {
    case "delivered":
      return deliver(tx, deps, email, source);
    case "deferred":
      return defer(tx, deps, email, source, outcome.error);
    case "bounced":
      return bounce(tx, deps, email, source, outcome);
    case "complained":
      return complain(tx, deps, email, source, outcome.feedbackType);
    case "unsubscribed":
      return leave(tx, deps, email);
  }
}

async function deliver(tx: Tx, deps: InboundDeps, email: EmailRow, source: string): Promise<boolean> {
  const now = deps.clock.now();
  return transition(tx, deps, ["sent"], {
    email,
    patch: { status: "delivered", updatedAt: now },
    events: [{ type: "email.delivered", data: { source } }],
  });
}

async function defer(tx: Tx, deps: InboundDeps, email: EmailRow, source: string, error: DeliveryError): Promise<boolean> {
  if (email.status !== "sent") return false;
  const { workspaceId, campaignId, contactId } = email;
  const about = { workspaceId, emailId: await holdEmail(tx, email), campaignId, contactId };
  await recordEvents(tx, deps, [
    { ...about, type: "email.deferred", at: deps.clock.now(), data: { type: "TRANSIENT", ...toData(error), source } },
  ]);
  return true;
}

async function bounce(
  tx: Tx,
  deps: InboundDeps,
  email: EmailRow,
  source: string,
  { error, type, invalidRecipient, refusedFor }: Extract<ReportOutcome, { kind: "bounced" }>,
): Promise<boolean> {
  const moved = await transition(tx, deps, ["sent", "delivered"], {
    email,
    patch: { status: "bounced", lastError: error, updatedAt: deps.clock.now() },
    events: [{ type: "email.bounced", data: { type, ...toData(error), source } }],
  });
  if (refusedFor === "unsubscribe") return leave(tx, deps, email);
  if (refusedFor === "complaint") await suppressRecipient(tx, deps, email, "complaint");
  else if (moved && invalidRecipient) await suppressRecipient(tx, deps, email, "bounce");
  return moved || refusedFor !== undefined;
}

async function leave(tx: Tx, deps: InboundDeps, { workspaceId, to, id }: EmailRow): Promise<boolean> {
  await unsubscribe(tx, deps, { workspaceId, email: to, emailId: id }, "provider");
  return true;
}

async function complain(tx: Tx, deps: InboundDeps, email: EmailRow, source: string, feedbackType: string): Promise<boolean> {
  const moved = await transition(tx, deps, ["sent", "delivered"], {
    email,
    patch: { status: "complained", updatedAt: deps.clock.now() },
    events: [{ type: "email.complained", data: { feedbackType, source } }],
  });
  const counts = moved || email.status === "bounced";
  if (counts) await suppressRecipient(tx, deps, email, "complaint");
  return counts;
}

async function suppressRecipient(
  tx: Tx,
  deps: InboundDeps,
  { workspaceId, toKey, id, campaignId }: EmailRow,
  reason: "bounce" | "complaint",
): Promise<void> {
  await suppress(tx, deps, workspaceId, { email: toKey, reason, scope: "all", source: reason, emailId: assumeEmailHeld(id), campaignId });
}

function toData({ message, smtpCode, enhancedCode }: DeliveryError) {
  return { smtpCode, enhancedCode, diagnostic: message };
}
