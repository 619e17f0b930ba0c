import type { CampaignStats, Explanation, SkipReason } from "@mailsvc/sdk/contract";
import { and, asc, eq, inArray } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import { type Action, buildExplanation, count, type Findings, joinSentences, type Moment, quote, sayInstant } from "../lib/explanation.ts";
import { MINUTE } from "../lib/units.ts";
import { type CampaignDeps, type CampaignRow, getCampaignRow } from "./campaigns.ts";
import { lacksContent } from "./content.ts";
import { getStats } from "./stats.ts";

// Campaigns have a few events of their own; those of their emails are told by the emails.
const OWN_EVENTS = [
  "campaign.scheduled",
  "campaign.started",
  "campaign.paused",
  "campaign.resumed",
  "campaign.completed",
  "campaign.cancelled",
  "campaign.failed",
];

/** Explains a campaign: where it stands, why it was held or paused, who did not get it. Throws ApiError not_found. */
export async function explainCampaign(read: Reader, deps: CampaignDeps, workspaceId: string, id: string): Promise<Explanation> {
  const row = await getCampaignRow(read, workspaceId, id);
  const stats = await getStats(read, deps, workspaceId, { id, interval: "day" });
  const { events: e } = read.t;
  const events = await read
    .select({ type: e.type, at: e.at, data: e.data })
    .from(e)
    .where(and(eq(e.workspaceId, workspaceId), eq(e.campaignId, id), inArray(e.type, OWN_EVENTS)))
    .orderBy(asc(e.sequence));
  return buildExplanation(
    {
      id,
      kind: "campaign",
      title: `Campaign ${quote(row.name)}`,
      status: row.status,
      moments: [{ at: row.createdAt, what: "Created" }, ...events.map(toMoment)],
      related: [row.listId, row.segmentId, ...row.include, ...row.exclude, row.resendOf?.campaignId],
      ...findState(row, stats),
    },
    { now: deps.clock.now(), dev: deps.config.dev },
  );
}

const WORDS: Readonly<Record<string, string>> = {
  "campaign.scheduled": "Scheduled",
  "campaign.started": "Sending started, which fixed the recipients",
  "campaign.paused": "Paused",
  "campaign.resumed": "Resumed",
  "campaign.completed": "Every recipient had an attempt",
  "campaign.cancelled": "Cancelled",
  "campaign.failed": "Could not start, so it was paused",
};

function toMoment({ type, at, data }: { type: string; at: number; data: Record<string, unknown> | null }): Moment {
  const message = data?.["message"];
  return { at, what: WORDS[type] ?? type, why: typeof message === "string" ? message : null };
}

/** Explains the state of a campaign: its meaning, the next step, and actions for the reader. */
function findState(row: CampaignRow, stats: CampaignStats): Pick<Findings, "summary" | "next" | "actions"> {
  const { id } = row;
  switch (row.status) {
    case "DRAFT":
      return {
        summary: "It is a draft and goes out once it is sent or scheduled.",
        actions: [{ what: "Send it", command: `mailsvc campaigns send ${id}` }],
      };
    case "SCHEDULED":
      return {
        summary: joinSentences(
          `It is scheduled for ${sayInstant(row.scheduledAt ?? 0)}. Its sender, template and audience are checked again then.`,
          lacksContent(row) ? "It has no content yet. Without it, it does not start." : null,
        ),
        next: { at: row.scheduledAt, what: lacksContent(row) ? "Sending starts, if it has content by then." : "Sending starts." },
        ...(lacksContent(row) && {
          actions: [{ what: "Give it content", command: `mailsvc campaigns update ${id} --html-file FILE` }],
        }),
      };
    case "PAUSED":
      return {
        summary: joinSentences(
          row.startedAt === null ? "It is held, and no email has gone out." : "It is paused. What was released before still goes out.",
          row.statusReason?.message ?? "You paused it.",
          row.startedAt === null ? null : describeProgress(stats),
        ),
        next: { at: null, what: "Nothing happens until it is resumed." },
        actions: [
          {
            what: row.statusReason === null ? "Resume it" : "Resume it, once the reason is gone",
            command: `mailsvc campaigns resume ${id}`,
          },
          ...listActions(id, stats),
        ],
      };
    case "SENDING":
      return {
        summary: joinSentences(
          "It is being sent.",
          describeProgress(stats),
          describeQuiet(stats),
          row.winner === null && row.decideAt !== null ? "The winner of its A/B test is not known yet." : null,
        ),
        next: findNext(row),
        actions: [
          ...(waitsForPick(row) ? [{ what: "Pick the winner", command: `mailsvc campaigns winner ${id} --variant A` }] : []),
          ...listActions(id, stats),
        ],
      };
    case "SENT":
      return {
        summary: joinSentences("Every recipient had an attempt.", describeProgress(stats)),
        next:
          stats.recipients.deferred > 0
            ? { at: null, what: `${count(stats.recipients.deferred, "deferred email")} are tried further, for about two days.` }
            : null,
        actions: listActions(id, stats),
      };
    case "CANCELLED":
      return { summary: joinSentences("It was cancelled.", row.startedAt === null ? "No email had gone out." : describeProgress(stats)) };
  }
}

/** True while the campaign stands still until somebody picks the winner of its A/B test. */
function waitsForPick({ abTest, decideAt, winner, releasedAt }: CampaignRow): boolean {
  return releasedAt === null && abTest?.winner === "manual" && decideAt !== null && winner === null;
}

function findNext(row: CampaignRow): Findings["next"] {
  const { nextReleaseAt, decideAt, releasedAt, winner, throttle, localTime } = row;
  if (releasedAt !== null) return { at: null, what: "It is over when the last recipient had an attempt." };
  if (waitsForPick(row)) return { at: null, what: "All other recipients get the variant that you pick." };
  if (decideAt !== null && winner === null)
    return { at: decideAt, what: "The winner of the A/B test is decided, and all other recipients get it." };
  if (localTime !== null) return { at: null, what: `Each reader gets it when their own clock shows ${localTime.at.replace("T", " ")}.` };
  if (throttle !== null) return { at: nextReleaseAt, what: "Its throttle releases the next emails." };
  return { at: null, what: "The next emails go out as fast as the mail server takes them." };
}

function describeQuiet({ quiet, computedAt }: CampaignStats): string | null {
  if (quiet === null) return null;
  const minutes = Math.floor((Date.parse(computedAt) - Date.parse(quiet.since)) / MINUTE);
  return `No mail left for ${count(minutes, "minute")}. ${quiet.reason}`;
}

/** Tells how many recipients got it, and the fate of the others. */
function describeProgress({ recipients, audience, skipped, status }: CampaignStats): string {
  const { total, sent, delivered, complained, queued, sending, deferred, bounced, failed, suppressed, cancelled } = recipients;
  const open = queued + sending + deferred;
  // Each contact of the audience is a recipient by then, unless the person was erased.
  const erased = status === "SENT" && audience !== null ? audience - total : 0;
  const reasons = Object.entries(skipped).flatMap(([reason, n]) => (n > 0 ? [`${n} ${SKIPPED[reason as SkipReason]}`] : []));
  const parts = [
    `${sent + delivered + complained} of ${audience ?? total} were accepted`,
    ...(open > 0 ? [`${open} wait${deferred > 0 ? `, ${deferred} of them for another attempt` : ""}`] : []),
    ...(bounced > 0 ? [`${bounced} bounced`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(suppressed > 0 ? [`${suppressed} are suppressed`] : []),
    ...(cancelled > 0 ? [`${cancelled} were cancelled`] : []),
    ...(reasons.length > 0 ? [`skipped: ${reasons.join(", ")}`] : []),
    ...(erased > 0 ? [`${erased} erased`] : []),
  ];
  return `${parts.join("; ")}.`;
}

const SKIPPED: Readonly<Record<SkipReason, string>> = {
  unsubscribed: "unsubscribed",
  bounced: "bounced before",
  complained: "complained before",
  suppressed: "on the suppression list",
  invalid: "with an address that takes no mail",
  deleted: "deleted",
  duplicate: "with the address of another recipient",
  left_list: "left the lists of the campaign themselves",
  missing_variables: "without a variable of the template",
  replied: "answered before",
};

/** Commands that list the recipients with a problem. */
function listActions(id: string, { recipients }: CampaignStats): Action[] {
  return (["bounced", "failed", "skipped", "deferred"] as const)
    .filter((status) => recipients[status] > 0)
    .map((status) => ({
      what: `List the ${status} recipients, with the reasons`,
      command: `mailsvc campaigns recipients ${id} --status ${status}`,
    }));
}
