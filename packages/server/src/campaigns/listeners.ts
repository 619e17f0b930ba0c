import { isNull, sql } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import type { SkippedEmail } from "../delivery/deps.ts";
import type { EventReader } from "../events/events.ts";
import type { CampaignDeps } from "./campaigns.ts";
import { addCounts, type Delta, listSkip, type SeriesMetric } from "./counts.ts";
import { finishReleased } from "./finish-job.ts";
import {
  CAMPAIGNS_READER,
  COUNTED,
  countLink,
  hashLink,
  listStateChanges,
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

/** Counts recipients that are skipped although they were to get a campaign, and ends campaigns whose last ones these were. */
export async function countSkipped(tx: Tx, deps: CampaignDeps, emails: readonly SkippedEmail[]): Promise<void> {
  await addCounts(tx, deps, emails.flatMap(listSkip));
  await finishThose(tx, deps, emails);
}

/** Ends campaigns whose last recipients these were. */
async function finishThose(tx: Tx, deps: CampaignDeps, recipients: readonly Pick<SkippedEmail, "campaignId" | "variant">[]): Promise<void> {
  const lost = new Set(recipients.flatMap(({ campaignId, variant }) => (variant === null ? campaignId : [])));
  await finishReleased(tx, deps, [...new Set(recipients.map(({ campaignId }) => campaignId))], lost);
}

/**
 * Counts the states of recipients, their events by hour, and the people who opened and clicked; ends campaigns without a recipient left.
 */
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
  const variants = await loadVariants(tx, events);
  const deltas: Delta[] = [];
  for (const event of events) {
    const { campaignId, at, metric } = event;
    const variant = variants.get(event.emailId) ?? null;
    deltas.push(...listStateChanges(event, variant));
    if (metric === null) continue;
    const count = (name: SeriesMetric): void => {
      deltas.push({ campaignId, variant: OF_VARIANTS.has(metric) ? variant : null, metric: name, by: 1, at });
    };
    // One recipient unsubscribes once, however often the link is used.
    if (metric !== "unsubscribes" || (await recordFirst(tx, event, "unsubscribedAt"))) count(metric);
    if (metric === "opens" && (await recordFirst(tx, event, "openedAt"))) count("uniqueOpens");
    if (metric === "clicks" && (await recordFirst(tx, event, "clickedAt"))) count("uniqueClicks");
    if (metric === "clicks") await countLink(tx, deps, event, await isFirstClick(tx, event));
    if (metric === "machineClicks") await countLink(tx, deps, event, false);
  }
  await addCounts(tx, deps, deltas);
  const attempted = events.filter(({ was, metric }) => was !== null || metric === "deferred");
  await finishThose(
    tx,
    deps,
    attempted.map(({ campaignId, emailId }) => ({ campaignId, variant: variants.get(emailId) ?? null })),
  );
}

/** The variants of recipients. */
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
