import type { Explanation } from "@mailsvc/sdk/contract";
import { findCampaignRow } from "../campaigns/campaigns.ts";
import type { Reader } from "../db/db.ts";
import { listHolds } from "../delivery/delivery.ts";
import { findEmail, readDeliveryJob } from "../emails/emails.ts";
import { listEventsOfEmails } from "../events/events.ts";
import { notFound } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { buildExplanation, quote } from "../lib/explanation.ts";
import type { JobRow } from "../queue/queue.ts";
import { findSuppressions } from "../suppressions/suppressions.ts";
import type { ExplainDeps } from "./deps.ts";
import { describeEmailEvent } from "./email-events.ts";
import { explainOutcome, type Surroundings } from "./email-outcome.ts";
import { describeSuppression } from "./suppression.ts";

type FullEmail = NonNullable<Awaited<ReturnType<typeof findEmail>>>;

// Dead jobs that are looked through: there are few, because each is a fault of ours.
const DEAD_JOBS = 500;

/** Explains an email: why it waits, was refused or went to nobody. Throws ApiError not_found. */
export async function explainEmail(read: Reader, deps: ExplainDeps, workspaceId: string, id: string): Promise<Explanation> {
  const full = await findEmail(read, workspaceId, id);
  if (!full) throw notFound("email", id);
  const { email, contents } = full;
  const around = await findSurroundings(read, deps, full);
  const { campaign, suppression } = around;
  const events = await listEventsOfEmails(read, [id]);
  const now = deps.clock.now();
  return buildExplanation(
    {
      id,
      kind: "email",
      title: `Email to ${email.to}: ${quote(contents.subject)}`,
      status: email.status,
      moments: [
        { at: email.createdAt, what: describeOrigin(full, campaign?.name) },
        ...events.filter(({ type }) => type !== "email.queued").map(describeEmailEvent),
        ...(suppression ? [{ at: suppression.updatedAt, what: "The address was suppressed", why: describeSuppression(suppression) }] : []),
      ],
      related: [email.campaignId, email.contactId, suppression?.emailId],
      ...explainOutcome(email, around, now),
    },
    { now, dev: deps.config.dev },
  );
}

function describeOrigin({ email, contents }: FullEmail, campaign: string | undefined): string {
  if (email.campaignId !== null) return `Made for a contact of the campaign ${quote(campaign ?? email.campaignId)}`;
  const template = contents.template === null ? "" : `, from the template ${contents.template}`;
  return `Accepted${template}${email.scheduledAt === null ? "" : `, to be sent at ${iso(email.scheduledAt)}`}`;
}

async function findSurroundings(read: Reader, deps: ExplainDeps, { email }: FullEmail): Promise<Surroundings> {
  const { workspaceId, toKey, campaignId, status } = email;
  const domain = toKey.slice(toKey.lastIndexOf("@") + 1);
  const waits = status === "queued" || status === "deferred" || status === "sending";
  return {
    pause: await deps.queue.readPause(read),
    hold: (await listHolds(read)).find((one) => one.domain === domain) ?? null,
    mailerFault: deps.mailer.fault(),
    campaign: campaignId === null ? null : await findCampaignRow(read, workspaceId, campaignId),
    suppression: (await findSuppressions(read, workspaceId, [toKey])).get(toKey) ?? null,
    deadJob: waits ? await findDeadJob(read, deps, email) : null,
  };
}

async function findDeadJob(read: Reader, { queue }: ExplainDeps, { workspaceId, id }: FullEmail["email"]): Promise<JobRow | null> {
  const { rows } = await queue.list(read, { workspaceId, state: "dead", limit: DEAD_JOBS, offset: 0 });
  return rows.find(({ payload }) => readDeliveryJob(payload).emailIds.includes(id)) ?? null;
}
