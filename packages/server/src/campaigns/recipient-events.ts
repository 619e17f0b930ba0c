import { createHash } from "node:crypto";
import type { EmailStatus, EventType } from "@mailsvc/sdk/contract";
import { sql } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import { STATUS_OF_EVENT } from "../emails/emails.ts";
import type { ReadEvent } from "../events/events.ts";
import type { CampaignDeps } from "./campaigns.ts";
import { type Delta, isCountedState, type SeriesMetric } from "./counts.ts";

type EventMetric = Exclude<SeriesMetric, "uniqueOpens" | "uniqueClicks">;

const METRICS: Readonly<Partial<Record<EventType, EventMetric>>> = {
  "email.sent": "sent",
  "email.delivered": "delivered",
  "email.deferred": "deferred",
  "email.bounced": "bounced",
  "email.complained": "complained",
  "email.failed": "failed",
  "email.opened": "opens",
  "email.clicked": "clicks",
  "email.unsubscribed": "unsubscribes",
};

/** Events that are also counted for each variant. All other metrics are states, which are counted for variants already. */
export const OF_VARIANTS: ReadonlySet<EventMetric> = new Set(["opens", "machineOpens", "clicks", "machineClicks", "unsubscribes"]);

/** An event about a recipient of a campaign. */
export interface RecipientEvent {
  readonly workspaceId: string;
  /** The count by hour that it adds to; null for a mere change of state. */
  readonly metric: EventMetric | null;
  /** The states before and after a change of state. */
  readonly was: EmailStatus | null;
  readonly now: EmailStatus | null;
  readonly at: number;
  readonly emailId: string;
  readonly campaignId: string;
  /** The link that was clicked. */
  readonly url: string | null;
}

/** The name of the reader that counts. */
export const CAMPAIGNS_READER = "campaigns";

/** The types of events that are counted. */
export const COUNTED: readonly EventType[] = [
  ...new Set([...(Object.keys(METRICS) as EventType[]), ...(Object.keys(STATUS_OF_EVENT) as EventType[])]),
  "contact.tracked",
  "automation.goal_reached",
];

/** The part of an event that is counted. */
export type CountedEvent = Pick<ReadEvent, "type" | "campaignId" | "emailId" | "workspaceId" | "at" | "machine" | "data" | "was">;

/** The events that concern the statistics of campaigns. */
export function toRecipientEvent({ type, campaignId, emailId, workspaceId, at, machine, data, was }: CountedEvent): RecipientEvent[] {
  const known = METRICS[type] ?? null;
  if (!campaignId || !emailId || (known === null && was === null)) return [];
  const metric = machine !== true ? known : known === "opens" ? "machineOpens" : known === "clicks" ? "machineClicks" : known;
  const now = was === null ? null : (STATUS_OF_EVENT[type] ?? null);
  return [{ workspaceId, metric, was, now, at, emailId, campaignId, url: typeof data?.url === "string" ? data.url : null }];
}

/** The counts that a change of state adds to the statistics. */
export function listStateChanges({ campaignId, was, now }: RecipientEvent, variant: string | null, by: 1 | -1 = 1): Delta[] {
  if (was === null || now === null) return [];
  const left: Delta[] = isCountedState(was) ? [{ campaignId, variant, metric: `status:${was}`, by: -by }] : [];
  return [...left, { campaignId, variant, metric: `status:${now}`, by }];
}

/** Returns the changes of revenue, in hundredths of the currency, that an event causes if it names a campaign and a value. */
export function toRevenue({ campaignId, data }: Pick<CountedEvent, "campaignId" | "data">): Delta[] {
  if (!campaignId || typeof data?.value !== "number" || typeof data.currency !== "string") return [];
  const about = { campaignId, variant: null };
  return [
    { ...about, metric: `revenue:${data.currency}`, by: Math.round(data.value * 100) },
    { ...about, metric: `purchases:${data.currency}`, by: 1 },
  ];
}

/** Identifies a link in the tables of links: an address may be longer than an index entry. */
export function hashLink(url: string): string {
  return createHash("sha256").update(url).digest("base64url").slice(0, 22);
}

// As with other counters: on Postgres, writers of the same row run one after the other.
const PARTS = 8;

/** Adds a click to its link, or takes it away with `by` -1; `first` if it is the first one of its recipient. */
export async function countLink(
  tx: Tx,
  deps: Pick<CampaignDeps, "queue" | "random">,
  { campaignId, url, metric }: Pick<RecipientEvent, "campaignId" | "url" | "metric">,
  first: boolean,
  by: 1 | -1 = 1,
): Promise<void> {
  if (url === null) return;
  const machine = metric === "machineClicks";
  const part = deps.queue.workers === null ? 0 : Math.floor(deps.random.fraction() * PARTS);
  const counts = { clicks: machine ? 0 : by, uniqueClicks: first ? by : 0, machineClicks: machine ? by : 0 };
  await tx
    .prepared("count_link", (q, { campaignLinks: t }, arg) =>
      q
        .insert(t)
        .values({
          ...{ campaignId: arg("campaignId"), link: arg("link"), part: arg("part"), url: arg("url") },
          ...{ clicks: arg("clicks"), uniqueClicks: arg("uniqueClicks"), machineClicks: arg("machineClicks") },
        })
        .onConflictDoUpdate({
          target: [t.campaignId, t.link, t.part],
          set: {
            clicks: sql`${t.clicks} + excluded.clicks`,
            uniqueClicks: sql`${t.uniqueClicks} + excluded.unique_clicks`,
            machineClicks: sql`${t.machineClicks} + excluded.machine_clicks`,
          },
        }),
    )
    .execute({ campaignId, link: hashLink(url), part, url, ...counts });
}
