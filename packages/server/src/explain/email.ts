import type { Explanation } from "@mailsvc/sdk/contract";
import { addressKey } from "@mailsvc/sdk/contract";
import { findCampaignRow } from "../campaigns/campaigns.ts";
import type { Reader } from "../db/db.ts";
import { listHolds } from "../delivery/delivery.ts";
import { type FullEmail, findMail, readDeliveryJob } from "../emails/emails.ts";
import { listEventsOfEmails } from "../events/events.ts";
import { invalid, notFound } from "../lib/api-error.ts";
import { buildExplanation, count, type Findings, joinSentences, quote, sayInstant } from "../lib/explanation.ts";
import { isTestMail } from "../lib/test-mail.ts";
import { hidePlaces } from "../mail/hide-places.ts";
import type { JobRow } from "../queue/queue.ts";
import { findSuppressions } from "../suppressions/suppressions.ts";
import type { ExplainDeps } from "./deps.ts";
import { describeEmailEvent } from "./email-events.ts";
import { explainOutcome, type Surroundings } from "./email-outcome.ts";
import { joinRecipients } from "./recipients.ts";
import { describeSuppression } from "./suppression.ts";

// Dead jobs that are looked through: there are few, because each is a fault of ours.
const DEAD_JOBS = 500;

/**
 * Explains an email: why it waits, was refused or was not sent. A mail to several recipients is explained for all of them, or for the one
 * whose address or id is given. Throws ApiError not_found or validation_error.
 */
export async function explainEmail(
  read: Reader,
  deps: ExplainDeps,
  workspaceId: string,
  { id, recipient }: { id: string; recipient?: string | undefined },
): Promise<Explanation> {
  const mail = await findMail(read, workspaceId, id);
  if (!mail) throw notFound("email", id);
  const { emails, contents } = mail;
  const key = recipient === undefined ? null : addressKey(recipient);
  const named = emails.find((email) => (key === null ? email.id === id && email.mailId !== id : email.toKey === key));
  if (key !== null && !named) throw invalid("recipient", "not_a_recipient", `The email has no recipient ${recipient}.`);
  const [only, ...others] = named ? [named] : emails;
  const now = deps.clock.now();
  if (only === undefined) throw notFound("email", id);
  const findings =
    others.length === 0
      ? await explainRecipient(read, deps, { email: only, contents })
      : joinRecipients(
          await Promise.all(emails.map(async (email) => ({ email, findings: await explainRecipient(read, deps, { email, contents }) }))),
          contents.subject,
        );
  return buildExplanation({ ...findings, id }, { now, dev: deps.config.dev });
}

/** The subject as the recipient reads it. */
async function findSubject(read: Reader, { renderHooks }: ExplainDeps, { email, contents }: FullEmail): Promise<string> {
  const subjects = email.campaignId === null ? null : await renderHooks.renderSubjects(read, [email]);
  return subjects?.get(email.id) ?? contents.subject;
}

async function explainRecipient(read: Reader, deps: ExplainDeps, full: FullEmail): Promise<Findings> {
  const { email } = full;
  const around = await findSurroundings(read, deps, full);
  const { campaign, suppression } = around;
  const events = await listEventsOfEmails(read, [email.id]);
  const outcome = explainOutcome(email, around, deps.clock.now());
  const subject = await findSubject(read, deps, full);
  return {
    id: email.id,
    kind: "email",
    title: `${isTestMail(email.id) ? "Test email" : "Email"} to ${email.to}: ${quote(subject)}`,
    status: email.status,
    moments: [
      { at: email.createdAt, what: describeOrigin(full, campaign?.name) },
      ...events.filter(({ type }) => type !== "email.queued").map(describeEmailEvent),
      ...(suppression ? [{ at: suppression.updatedAt, what: "The address was suppressed", why: describeSuppression(suppression) }] : []),
    ],
    related: [email.campaignId, email.contactId, suppression?.emailId],
    ...outcome,
    summary: joinSentences(
      isTestMail(email.id) ? "It was sent with a test key, so it is captured instead of sent." : null,
      outcome.summary,
    ),
  };
}

function describeOrigin({ email, contents }: FullEmail, campaign: string | undefined): string {
  if (email.campaignId !== null) return `Made for a contact of the campaign ${quote(campaign ?? email.campaignId)}`;
  const template = contents.template === null ? "" : `, from the template ${contents.template}`;
  const refused = contents.addressees?.refused ?? 0;
  const others =
    refused === 0 ? "" : `; ${count(refused, "other recipient")} of the message ${refused === 1 ? "was" : "were"} refused over SMTP`;
  return `Accepted${template}${email.scheduledAt === null ? "" : `, to be sent at ${sayInstant(email.scheduledAt)}`}${others}`;
}

async function findSurroundings(read: Reader, deps: ExplainDeps, { email }: FullEmail): Promise<Surroundings> {
  const { workspaceId, toKey, campaignId, status } = email;
  const domain = toKey.slice(toKey.lastIndexOf("@") + 1);
  const fault = deps.mailer.fault();
  const waits = status === "queued" || status === "deferred" || status === "sending";
  return {
    pause: await deps.queue.readPause(read),
    hold: (await listHolds(read)).find((one) => one.domain === domain) ?? null,
    mailerFault: fault === null ? null : hidePlaces(fault),
    campaign: campaignId === null ? null : await findCampaignRow(read, workspaceId, campaignId),
    suppression: (await findSuppressions(read, workspaceId, [toKey])).get(toKey) ?? null,
    deadJob: waits ? await findDeadJob(read, deps, email) : null,
  };
}

async function findDeadJob(read: Reader, { queue }: ExplainDeps, { workspaceId, id }: FullEmail["email"]): Promise<JobRow | null> {
  const { rows } = await queue.list(read, { workspaceId, state: "dead", limit: DEAD_JOBS, offset: 0 });
  return rows.find(({ payload }) => readDeliveryJob(payload).emailIds.includes(id)) ?? null;
}
