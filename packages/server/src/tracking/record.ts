import { and, eq, inArray, lte, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { type EmailRow, findEmail, holdEmail } from "../emails/emails.ts";
import { type NewEvent, recordEvents } from "../events/events.ts";
import { SECOND } from "../lib/units.ts";
import type { JobHandler } from "../queue/queue.ts";
import type { Client } from "./client.ts";
import type { TrackingDeps } from "./deps.ts";
import { PIXEL, showLinkId, type TrackedLink, type TrackingToken } from "./links.ts";
import { type MachineReason, OPENS, type TrackingTables } from "./tables.ts";

/** Job kind: records the held opens and clicks of an email. */
export const REQUESTS_JOB = "tracking.requests";

/** No person reacts to a mail this soon after it was handed over, ms. */
const TOO_SOON_MS = 3 * SECOND;

/** Time for which an open or a click is held to see if clicks come with it, ms. */
const HOLD_MS = 5 * SECOND;

// Three links within five seconds, or two within one, is more than people click.
const BURSTS = [
  { links: 3, withinMs: HOLD_MS },
  { links: 2, withinMs: SECOND },
] as const;

/** Within this time, ms, the same email is opened, or the same link of it clicked, once. */
export const REPEAT_MS = 60 * SECOND;

/** Events of one email and link at most, for people and for machines each. */
const MAX_EVENTS = 100;

/**
 * Stores an open or a click, and asks for it to be recorded once it is known if a machine requested links with it. All requests
 * of the pixel of a mail, whose `url` is empty, are opens.
 */
export async function recordRequest(
  tx: Tx,
  deps: TrackingDeps,
  { workspaceId, url }: TrackedLink,
  { emailId, linkId }: TrackingToken,
  client: Client,
): Promise<void> {
  const at = deps.clock.now();
  const { name, reason } = client;
  const held = { workspaceId, emailId, linkId: url === PIXEL ? OPENS : linkId, machine: reason !== null, reason, client: name, at };
  await holdRequest(tx, held);
  await deps.queue.enqueue(tx, {
    kind: REQUESTS_JOB,
    payload: { workspaceId, emailId },
    runAt: at + HOLD_MS,
    dedupeKey: `${REQUESTS_JOB}:${emailId}`,
  });
}

/** Records the opens and clicks that were held. Repeats within a minute, and those after the hundredth, are not recorded. */
export function recordHeldRequests(deps: TrackingDeps): JobHandler {
  return async ({ payload }) => ({
    commit: async (tx) => {
      const [workspaceId, emailId] = [String(payload.workspaceId), String(payload.emailId)];
      const requests = await takeHeldRequests(tx, workspaceId, emailId, deps.clock.now());
      const email = (await findEmail(tx, workspaceId, emailId))?.email;
      if (!email || requests.length === 0) return;
      const before = await findEngagements(tx, workspaceId, emailId);
      const hits: Hit[] = [];
      for (const request of requests) {
        const link = request.linkId === OPENS ? null : await deps.tracker.links.find(tx, request.linkId);
        if (request.linkId !== OPENS && link?.workspaceId !== workspaceId) continue;
        const reason = request.reason ?? judge(email, request, requests, before);
        hits.push({ ...request, machine: reason !== null, reason, url: link?.url ?? null });
      }
      await recordHits(tx, deps, email, before, hits);
    },
  });
}

/** An open, whose `url` is null, or a click. */
interface Hit extends HeldRequest {
  readonly url: string | null;
}

function isTooSoon({ sentAt }: EmailRow, at: number): boolean {
  return sentAt === null || at - sentAt < TOO_SOON_MS;
}

/** Returns the reason an open or a click is that of a machine, although it alone looks like a person's; null if there is none. */
function judge(email: EmailRow, request: HeldRequest, held: readonly HeldRequest[], before: readonly Engagement[]): MachineReason | null {
  if (isTooSoon(email, request.at)) return "too-soon";
  const earlier = before.map(({ linkId, lastAt }) => ({ linkId, at: lastAt }));
  const clicks = [...held, ...earlier].filter(({ linkId }) => linkId !== OPENS);
  for (const { links, withinMs } of BURSTS) {
    const near = clicks.filter(({ at }) => Math.abs(at - request.at) < withinMs).map(({ linkId }) => linkId);
    if (new Set(near).size >= links) return "burst";
  }
  return null;
}

async function recordHits(tx: Tx, deps: TrackingDeps, email: EmailRow, before: readonly Engagement[], hits: readonly Hit[]): Promise<void> {
  const heldId = await holdEmail(tx, email);
  const known = new Map(before.map((row) => [keyOf(row), row]));
  const isFirst = (of: (row: Engagement) => boolean): boolean => ![...known.values()].some(of);
  const changed = new Map<string, Engagement>();
  const events: NewEvent[] = [];
  for (const hit of hits) {
    const { workspaceId, emailId, linkId, machine, reason, client, at, url } = hit;
    const row = known.get(keyOf(hit));
    if (row && (at - row.lastAt < REPEAT_MS || row.events >= MAX_EVENTS)) continue;
    const uniqueLink = row === undefined;
    const opened = url === null;
    const unique = opened ? uniqueLink : isFirst((other) => other.machine === machine && other.linkId !== OPENS);
    const engagement = { workspaceId, emailId, linkId, machine, events: (row?.events ?? 0) + 1, firstAt: row?.firstAt ?? at, lastAt: at };
    known.set(keyOf(hit), engagement);
    changed.set(keyOf(hit), engagement);
    events.push({
      workspaceId,
      type: opened ? "email.opened" : "email.clicked",
      emailId: heldId,
      contactId: email.contactId,
      campaignId: email.campaignId,
      at,
      machine,
      data: {
        machine,
        ...(reason !== null && { machineReason: reason }),
        client,
        unique,
        ...(!opened && { linkId: showLinkId(linkId), url, uniqueLink }),
      },
    });
  }
  await saveEngagements(tx, [...changed.values()]);
  await recordEvents(tx, deps, events);
}

function keyOf({ linkId, machine }: Pick<Engagement, "linkId" | "machine">): string {
  return `${linkId} ${machine}`;
}

type Engagement = TrackingTables["engagements"]["$inferSelect"];
type HeldRequest = TrackingTables["heldRequests"]["$inferSelect"];

/** Loads the opens and clicks of an email. */
function findEngagements(q: Tx | Reader, workspaceId: string, emailId: string): Promise<Engagement[]> {
  return findRows(q, q.t.engagements, { workspaceId, emailId });
}

/** Stores engagements that are new or were counted up. */
async function saveEngagements(tx: Tx, rows: readonly Engagement[]): Promise<void> {
  for (const row of rows)
    await tx
      .prepared("save_engagement", (q, { engagements: t }, arg) =>
        q
          .insert(t)
          .values({
            ...{ workspaceId: arg("workspaceId"), emailId: arg("emailId"), linkId: arg("linkId"), machine: arg("machine") },
            ...{ events: arg("events"), firstAt: arg("firstAt"), lastAt: arg("lastAt") },
          })
          .onConflictDoUpdate({
            target: [t.workspaceId, t.emailId, t.linkId, t.machine],
            set: { events: sql`excluded.events`, lastAt: sql`excluded.last_at` },
          }),
      )
      .execute({ ...row });
}

/** Holds an open or a click; a repeated one while it is held changes nothing. */
async function holdRequest(tx: Tx, request: HeldRequest): Promise<void> {
  await tx
    .prepared("hold_request", (q, { heldRequests: t }, arg) =>
      q
        .insert(t)
        .values({
          ...{ workspaceId: arg("workspaceId"), emailId: arg("emailId"), linkId: arg("linkId"), machine: arg("machine") },
          ...{ reason: arg("reason"), client: arg("client"), at: arg("at") },
        })
        .onConflictDoNothing(),
    )
    .execute({ ...request });
}

/** Takes the opens and clicks of an email that are held, oldest first. */
async function takeHeldRequests(tx: Tx, workspaceId: string, emailId: string, until: number): Promise<HeldRequest[]> {
  const rows = await tx
    .prepared("take_held_requests", (q, { heldRequests: t }, arg) =>
      q
        .delete(t)
        .where(and(eq(t.workspaceId, arg("workspaceId")), eq(t.emailId, arg("emailId")), lte(t.at, arg("until"))))
        .returning(),
    )
    .execute({ workspaceId, emailId, until });
  return rows.sort((a, b) => a.at - b.at);
}

/** Deletes the opens and clicks of emails that are deleted. */
export async function deleteEngagements(tx: Tx, workspaceId: string, emailIds: readonly string[]): Promise<void> {
  const { engagements: g } = tx.t;
  await tx.delete(g).where(and(eq(g.workspaceId, workspaceId), inArray(g.emailId, [...emailIds])));
}
