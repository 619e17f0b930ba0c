import { isNull, sql } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import type { StatusChange } from "../emails/emails.ts";
import type { EventReader } from "../events/events.ts";
import { addCounts, type Delta, type SeriesMetric } from "./counts.ts";
import type { CampaignDeps } from "./deps.ts";
import { finishReleased } from "./finish-job.ts";
import {
  CAMPAIGNS_READER,
  COUNTED,
  countLink,
  hashLink,
  OF_VARIANTS,
  type RecipientEvent,
  toRecipientEvent,
  toRevenue,
} from "./recipient-events.ts";

// The names of statements, by what is recorded.
const RECORD_FIRST = {
  openedAt: "record_first_open",
  clickedAt: "record_first_click",
  unsubscribedAt: "record_first_unsubscribe",
} as const;

/** Counts the states of recipients, and ends campaigns whose last ones these were. */
export async function countStatusChanges(tx: Tx, deps: CampaignDeps, changes: readonly StatusChange[]): Promise<void> {
  const deltas: Delta[] = [];
  const ended = new Set<string>();
  const lost = new Set<string>();
  for (const { email, from, to, skipReason } of changes) {
    const { campaignId, variant } = email;
    if (campaignId === null) continue;
    deltas.push({ campaignId, variant, metric: `status:${from}`, by: -1 }, { campaignId, variant, metric: `status:${to}`, by: 1 });
    if (skipReason !== null) deltas.push({ campaignId, variant, metric: `skip:${skipReason}`, by: 1 });
    if (to === "sending" || to === "queued") continue;
    ended.add(campaignId);
    if (variant === null) lost.add(campaignId);
  }
  if (deltas.length === 0) return;
  await addCounts(tx, deps, deltas);
  if (ended.size > 0) await finishReleased(tx, deps, [...ended], lost);
}

/** Counts what happens to recipients by hour, and who opened and clicked. */
export function campaignsReader(deps: () => CampaignDeps): EventReader {
  return {
    name: CAMPAIGNS_READER,
    types: COUNTED,
    plan: async (_q, _workspaceId, events) => {
      const own = events.flatMap(toRecipientEvent);
      const revenue = events.flatMap(toRevenue);
      if (own.length + revenue.length === 0) return null;
      return async (tx) => {
        if (own.length > 0) await countRecipientEvents(tx, deps(), own);
        if (revenue.length > 0) await addCounts(tx, deps(), revenue);
      };
    },
  };
}

async function countRecipientEvents(tx: Tx, deps: CampaignDeps, events: readonly RecipientEvent[]): Promise<void> {
  const variants = await loadVariants(
    tx,
    events.filter(({ metric }) => OF_VARIANTS.has(metric)),
  );
  const deltas: Delta[] = [];
  for (const event of events) {
    const { campaignId, at } = event;
    const variant = variants.get(event.emailId) ?? null;
    const count = (metric: SeriesMetric): void => {
      deltas.push({ campaignId, variant, metric, by: 1, at });
    };
    // One recipient unsubscribes once, however often the link is used.
    if (event.metric !== "unsubscribes" || (await recordFirst(tx, event, "unsubscribedAt"))) count(event.metric);
    if (event.metric === "opens" && (await recordFirst(tx, event, "openedAt"))) count("uniqueOpens");
    if (event.metric === "clicks" && (await recordFirst(tx, event, "clickedAt"))) count("uniqueClicks");
    if (event.metric === "clicks") await countLink(tx, deps, event, await isFirstClick(tx, event));
    if (event.metric === "machineClicks") await countLink(tx, deps, event, false);
  }
  await addCounts(tx, deps, deltas);
}

/** The variants of the recipients that opened, clicked or unsubscribed. */
async function loadVariants(tx: Tx, events: readonly RecipientEvent[]): Promise<Map<string, string | null>> {
  const found = new Map<string, string | null>();
  for (const [workspaceId, own] of Map.groupBy(events, (event) => event.workspaceId)) {
    const ids = own.map(({ emailId }) => emailId);
    for (const { id, variant } of await findRows(tx, tx.t.emails, { workspaceId, id: ids })) found.set(id, variant);
  }
  return found;
}

/** Records that a recipient did something for the first time; false if it was not the first time. */
async function recordFirst(
  tx: Tx,
  { campaignId, emailId, at }: Pick<RecipientEvent, "campaignId" | "emailId" | "at">,
  field: keyof typeof RECORD_FIRST,
): Promise<boolean> {
  const name = RECORD_FIRST[field];
  const first = await tx
    .prepared(name, (q, { campaignReactions: t }, arg) =>
      q
        .insert(t)
        .values({ campaignId: arg("campaignId"), emailId: arg("emailId"), [field]: arg("at") })
        .onConflictDoUpdate({ target: [t.campaignId, t.emailId], set: { [field]: sql`${arg("at")}` }, setWhere: isNull(t[field]) })
        .returning({ emailId: t.emailId }),
    )
    .execute({ campaignId, emailId, at });
  return first.length > 0;
}

async function isFirstClick(tx: Tx, { campaignId, emailId, url }: RecipientEvent): Promise<boolean> {
  if (url === null) return false;
  const first = await tx
    .prepared("first_click_of_link", (q, { campaignLinkClicks: t }, arg) =>
      q
        .insert(t)
        .values({ campaignId: arg("campaignId"), link: arg("link"), emailId: arg("emailId") })
        .onConflictDoNothing()
        .returning({ emailId: t.emailId }),
    )
    .execute({ campaignId, link: hashLink(url), emailId });
  return first.length > 0;
}
