import { addressKey, type EventData, type Explanation } from "@mailsvc/sdk/contract";
import { findCampaignRow } from "../campaigns/campaigns.ts";
import type { Reader } from "../db/db.ts";
import { listHolds } from "../delivery/delivery.ts";
import { type EmailRow, type FullEmail, findMail } from "../emails/emails.ts";
import { type EventRow, listEventsOfEmails } from "../events/events.ts";
import { invalid, notFound } from "../lib/api-error.ts";
import { buildExplanation, count, type Findings, joinSentences, type Moment, quote, sayInstant } from "../lib/explanation.ts";
import { isTestMail } from "../lib/ids.ts";
import { hidePlaces } from "../mail/hide-places.ts";
import { isTemporary, judgeReply } from "../mail/reply-judge.ts";
import { findSuppressions } from "../suppressions/suppressions.ts";
import { explainOutcome, type Surroundings } from "./email-outcome.ts";
import type { ExplainDeps } from "./explain.ts";
import { describeSuppression } from "./suppression.ts";

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
  const { workspaceId, toKey, campaignId } = email;
  const domain = toKey.slice(toKey.lastIndexOf("@") + 1);
  const fault = deps.mailer.fault();
  return {
    pause: await deps.queue.readPause(read),
    hold: (await listHolds(read)).find((one) => one.domain === domain) ?? null,
    mailerFault: fault === null ? null : hidePlaces(fault),
    campaign: campaignId === null ? null : await findCampaignRow(read, workspaceId, campaignId),
    suppression: (await findSuppressions(read, workspaceId, [toKey])).get(toKey) ?? null,
  };
}

type Refused = EventData["email.bounced"];

/** An event of an email, in words. */
function describeEmailEvent({ type, at, data, machine }: EventRow): Moment {
  const known = data ?? {};
  switch (type) {
    case "email.sent": {
      const { response, attempt, relay } = known as EventData["email.sent"];
      const who = relay === undefined ? "The mail server" : `The relay ${relay}`;
      return { at, what: `${who} took it in attempt ${attempt}`, why: `It answered ${quote(response)}.` };
    }
    case "email.delivered":
      return { at, what: "Delivered", why: toReporter(known) };
    case "email.deferred": {
      const { attempt, inDoubt, relay, ...refused } = known as unknown as EventData["email.deferred"];
      const which =
        attempt === undefined ? "The next mail server has not delivered it yet" : `Attempt ${attempt} was not accepted${atRelay(relay)}`;
      const lost = "The connection was lost after the whole message was written: it is not known whether it arrived.";
      return { at, what: `${which}: ${quote(refused.diagnostic)}`, why: inDoubt ? lost : describe(refused) };
    }
    case "email.bounced":
    case "email.failed": {
      const refused = known as unknown as Refused;
      return {
        at,
        what: `${type === "email.bounced" ? toBounce(refused) : "Given up"}${atRelay(refused.relay)}: ${quote(refused.diagnostic)}`,
        why: describe(refused),
      };
    }
    case "email.rescheduled":
      return { at, what: `Moved to ${(known as EventData["email.rescheduled"]).scheduledAt}` };
    case "email.opened":
      return { at, what: machine ? "Opened by a machine" : "Opened", why: machine ? MACHINE : null };
    case "email.clicked": {
      const { url } = known as EventData["email.clicked"];
      return {
        at,
        what: `${machine ? "Clicked by a machine" : "Clicked"}${url === undefined ? "" : `: ${url}`}`,
        why: machine ? MACHINE : null,
      };
    }
    default:
      return { at, what: OTHERS[type] ?? type, why: toReporter(known) };
  }
}

function toBounce(refused: Refused): string {
  return isTemporary(refused) ? "Given up by the next mail server" : "Refused for good";
}

function atRelay(relay: string | undefined): string {
  return relay === undefined ? "" : ` at the relay ${relay}`;
}

const MACHINE = "A scanner of links or a proxy of images looked at it; it does not count as a reader.";

const OTHERS: Readonly<Record<string, string>> = {
  "email.complained": "The recipient reported it as spam",
  "email.unsubscribed": "The recipient unsubscribed by its link",
  "email.suppressed": "Not sent, because the address is suppressed",
  "email.cancelled": "Cancelled",
  "email.received": "The recipient answered",
};

function describe(refused: Refused): string | null {
  const { diagnostic: message, smtpCode, enhancedCode } = refused;
  const text = joinSentences(judgeReply({ message, smtpCode, enhancedCode })?.meaning, toReporter(refused));
  return text === "" ? null : text;
}

/** Reports that come back later name their source. */
function toReporter({ source }: { readonly source?: unknown }): string | null {
  return typeof source === "string" ? `Reported by ${source}.` : null;
}

/** Findings about one recipient of a mail. */
interface Explained {
  readonly email: Pick<EmailRow, "id" | "to" | "status">;
  readonly findings: Findings;
}

// States in which there is nothing to explain.
const WELL: ReadonlySet<string> = new Set(["sent", "delivered"]);

/** Joins what was found out about the recipients of one mail: how many it reached, and of each of the others why not. */
function joinRecipients(all: readonly Explained[], subject: string): Findings {
  const byStatus = Map.groupBy(all, ({ email }) => email.status);
  const numbers = [...byStatus].map(([status, own]) => `${own.length} ${status}`).join(", ");
  const troubled = all.filter(({ email }) => !WELL.has(email.status));
  const due = all
    .flatMap(({ findings: { next } }) => (next?.at == null ? [] : [{ at: next.at, what: next.what }]))
    .sort((a, b) => a.at - b.at);
  const [first] = all;
  return {
    id: first?.email.id ?? "",
    kind: "email",
    title: `Email to ${count(all.length, "recipient")}: ${quote(subject)}`,
    status: byStatus.size === 1 && first ? first.email.status : "mixed",
    summary: [
      `Of ${count(all.length, "recipient")}: ${numbers}.`,
      ...troubled.map(({ email, findings }) => `${email.to}: ${findings.summary}`),
    ].join(" "),
    moments: all.flatMap(({ email, findings }, i) =>
      findings.moments
        .slice(i === 0 ? 0 : 1)
        .map((moment, j) => (i === 0 && j === 0 ? moment : { ...moment, what: `${email.to}: ${moment.what}` })),
    ),
    next: due[0] ?? null,
    actions: troubled.map(({ email }) => ({
      what: `See about ${email.to} alone`,
      command: `mailsvc why ${email.id} --recipient ${email.to}`,
    })),
    related: all.flatMap(({ email, findings }) => [email.id, ...(findings.related ?? [])]),
  };
}
