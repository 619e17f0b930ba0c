import { type AutomationEntry, type EntryStatus, type Page, TRIGGER_STEP } from "@mailsvc/sdk/contract";
import { and, asc, eq, getTableColumns, inArray } from "drizzle-orm";
import { holdContacts, resolveContacts } from "../contacts/contacts.ts";
import { countEach } from "../counters/counters.ts";
import type { Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { assumeContactHeld, type HeldContact } from "../db/held.ts";
import { listPage, type PageInput } from "../db/pagination.ts";
import { findMark, markOf, type ReadEvent, recordEvents } from "../events/events.ts";
import { iso } from "../lib/clock.ts";
import { splitIntoChunks } from "../lib/parts.ts";
import { HOUR } from "../lib/units.ts";
import type { AutomationDeps } from "./automations.ts";
import { buildRunJob } from "./due.ts";
import { countEnds } from "./step-counts.ts";
import { type AutomationRow, getAutomationRow, getVersionRow } from "./store.ts";
import type { AutomationTables, EntryEvent } from "./tables.ts";

export type EntryRow = AutomationTables["automationEntries"]["$inferSelect"];

type MoveRow = AutomationTables["automationMoves"]["$inferSelect"];

/** A contact that enters. */
export interface Entrant {
  readonly id: string;
  readonly seq: number;
  /** The tracked event that makes it enter. */
  readonly event?: EntryEvent | undefined;
  /** The mark of the event that makes it enter; the present without one. */
  readonly mark?: number;
}

/**
 * Lets contacts enter an active automation, except those that are inside, and those that were and may not enter again yet. One row for
 * each contact decides that, so of many triggers at once one enters.
 */
export async function enter(tx: Tx, deps: AutomationDeps, automation: AutomationRow, entrants: readonly Entrant[]): Promise<void> {
  const { id: automationId, workspaceId, version } = automation;
  const now = deps.clock.now();
  const unique = new Map(entrants.map((entrant) => [entrant.id, entrant]));
  if (unique.size === 0) return;
  const admitted = await admit(tx, deps, automation, [...unique.values()]);
  if (admitted.length === 0) return;
  const { connections } = await getVersionRow(tx, automationId, version);
  const first = connections.find(({ from }) => from === TRIGGER_STEP)?.to ?? null;
  const present = await findMark(tx, workspaceId);
  const rows = admitted.map(({ contact: { id: contactId, seq: contactSeq }, entryId }) => ({
    id: entryId,
    workspaceId,
    automationId,
    version,
    contactId,
    contactSeq,
    status: "ACTIVE" as const,
    reason: null,
    stepId: first,
    dueAt: now,
    waitingIn: null,
    waitsFor: null,
    waitsAfter: null,
    met: null,
    event: unique.get(contactId)?.event ?? null,
    failures: 0,
    moves: 0,
    enteredAt: now,
    enteredAfter: unique.get(contactId)?.mark ?? present,
    endedAt: null,
    endedAfter: null,
    goalReachedAt: null,
    revenue: null,
    goalRevenue: null,
  }));
  await tx.insertAll(tx.t.automationEntries, rows);
  await countEach(tx, automationId, "entered", rows);
  await deps.queue.enqueue(tx, buildRunJob(automation, now, now));
  await recordEvents(
    tx,
    deps,
    rows.map(({ id, contactId }) => ({
      workspaceId,
      type: "automation.entered",
      automationId,
      contactId,
      at: now,
      data: { entryId: id, version },
    })),
  );
}

/**
 * Decides which contacts enter now, and gives their entries ids. On Postgres, a transaction that another one forestalled runs again, and
 * sees the contact inside.
 */
async function admit(
  tx: Tx,
  deps: AutomationDeps,
  automation: AutomationRow,
  entrants: readonly Entrant[],
): Promise<{ contact: HeldContact; entryId: string }[]> {
  const { automationContacts: t } = tx.t;
  const now = deps.clock.now();
  const { id: automationId, workspaceId } = automation;
  const ids = entrants.map(({ id }) => id);
  const known = new Map((await listAdmitted(tx, deps, automation, ids)).map((one) => [one.contactId, one.known]));
  const held = await holdContacts(
    tx,
    workspaceId,
    entrants.filter(({ id }) => known.has(id)),
  );
  const admitted = held.map((contact) => ({ contact, entryId: deps.ids("ent") }));
  const [again, first] = [
    admitted.filter(({ contact }) => known.get(contact.id) === true),
    admitted.filter(({ contact }) => known.get(contact.id) !== true),
  ];
  await tx.insertAll(
    t,
    first.map(({ contact, entryId }) => ({ automationId, contactId: contact.id, entryId, enteredAt: now, inside: true })),
  );
  await tx.updateAll(
    t,
    again.map(({ contact, entryId }) => ({
      where: { automationId, contactId: contact.id },
      set: { entryId, enteredAt: now, inside: true },
    })),
  );
  return admitted;
}

/** Returns the contacts that may enter now. `known`: the contact was inside before. */
export async function listAdmitted(
  tx: Tx,
  deps: Pick<AutomationDeps, "clock">,
  { id: automationId, allowReEntry, reEntryDelayHours }: AutomationRow,
  contactIds: readonly string[],
): Promise<{ contactId: string; known: boolean }[]> {
  const longAgo = deps.clock.now() - reEntryDelayHours * HOUR;
  const rows = await findRows(tx, tx.t.automationContacts, { automationId, contactId: contactIds });
  const before = new Map(rows.map((row) => [row.contactId, row]));
  return contactIds.flatMap((contactId) => {
    const last = before.get(contactId);
    const mayEnter = last === undefined || (allowReEntry && !last.inside && last.enteredAt <= longAgo);
    return mayEnter ? [{ contactId, known: last !== undefined }] : [];
  });
}

const ENDED = { COMPLETED: "automation.completed", EXITED: "automation.exited", FAILED: "automation.failed" } as const;

/** Ends entries that are inside, with the events and counts; those that have ended already stay as they are. */
export async function endEntries(
  tx: Tx,
  deps: AutomationDeps,
  entries: readonly EntryRow[],
  status: keyof typeof ENDED,
  reason: string | null,
): Promise<void> {
  const { automationEntries: e, automationContacts: c } = tx.t;
  const now = deps.clock.now();
  const over = {
    status,
    reason,
    stepId: null,
    dueAt: null,
    waitingIn: null,
    waitsFor: null,
    waitsAfter: null,
    met: null,
    event: null,
    endedAt: now,
  };
  const marks = new Map<string, number>();
  for (const { workspaceId } of entries) if (!marks.has(workspaceId)) marks.set(workspaceId, await findMark(tx, workspaceId));
  const written = await tx.updateAll(
    e,
    entries.map(({ id, workspaceId, moves }) => ({
      where: { id, status: "ACTIVE" as const },
      set: { ...over, moves, endedAfter: marks.get(workspaceId) ?? null },
    })),
  );
  const ended = entries.filter((_, i) => written[i]);
  await tx.updateAll(
    c,
    ended.map(({ id: entryId, automationId, contactId }) => ({ where: { automationId, contactId, entryId }, set: { inside: false } })),
  );
  for (const [automationId, own] of Map.groupBy(ended, (entry) => entry.automationId)) {
    await countEach(tx, automationId, status, own);
    await countEnds(tx, automationId, own);
  }
  await recordEvents(
    tx,
    deps,
    ended.map(({ id, workspaceId, automationId, ...entry }) => ({
      workspaceId,
      type: ENDED[status],
      automationId,
      contactId: holdByEntry(entry).id,
      at: now,
      data: { entryId: id, ...(reason !== null && { reason }) },
    })),
  );
}

/** The contact of an entry that this transaction changes: the deletion of the contact ends the entry, so it collides there. */
function holdByEntry({ contactId: id, contactSeq: seq }: Pick<EntryRow, "contactId" | "contactSeq">): HeldContact {
  return assumeContactHeld({ id, seq });
}

/** Marks entries as having reached the goal of their automation, each once. */
export async function reachGoal(tx: Tx, deps: AutomationDeps, entries: readonly EntryRow[]): Promise<void> {
  const now = deps.clock.now();
  const written = await tx.updateAll(
    tx.t.automationEntries,
    entries.map(({ id }) => ({ where: { id, goalReachedAt: null }, set: { goalReachedAt: now } })),
  );
  const reached = entries.filter((_, i) => written[i]);
  for (const [automationId, own] of Map.groupBy(reached, (entry) => entry.automationId)) await countEach(tx, automationId, "goal", own);
  await recordEvents(
    tx,
    deps,
    reached.map(({ id, workspaceId, automationId, ...entry }) => ({
      workspaceId,
      type: "automation.goal_reached" as const,
      automationId,
      contactId: holdByEntry(entry).id,
      at: now,
      data: { entryId: id },
    })),
  );
}

/** The latest entries of the contacts of events that were inside when it happened. No contact may have two of the events. */
export async function listEntriesInside(tx: Tx, events: readonly ReadEvent[]): Promise<EntryRow[]> {
  const marks = new Map(events.map((event) => [event.contactId ?? "", markOf(tx, event)]));
  const latest = await listLatestEntries(tx, [...marks.keys()]);
  return latest.filter(({ contactId, status, enteredAfter, endedAfter }) => {
    const mark = marks.get(contactId) ?? 0;
    return enteredAfter < mark && (status === "ACTIVE" || mark <= (endedAfter ?? 0));
  });
}

/** The latest entry of each contact in each automation. */
export async function listLatestEntries(tx: Tx, contactIds: readonly string[]): Promise<EntryRow[]> {
  if (contactIds.length === 0) return [];
  return tx
    .prepared("latest_entries", (q, { automationEntries: e, automationContacts: c }, arg) =>
      q
        .select(getTableColumns(e))
        .from(c)
        .innerJoin(e, eq(e.id, c.entryId))
        .where(tx.sqlDialect.among(c.contactId, arg("contactIds"))),
    )
    .execute({ contactIds: JSON.stringify(contactIds) });
}

/** A page of entries with the steps they have taken, newest first. Throws ApiError not_found. */
export async function listEntries(
  read: Reader,
  workspaceId: string,
  { id, status, contact, ...input }: PageInput & { id: string; status?: EntryStatus | undefined; contact?: string | undefined },
): Promise<Page<AutomationEntry>> {
  await getAutomationRow(read, workspaceId, id);
  const { automationEntries: t } = read.t;
  const [known] = contact === undefined ? [] : await resolveContacts(read, workspaceId, [contact]);
  const ofContact = contact === undefined ? undefined : eq(t.contactId, known?.id ?? contact);
  const where = and(eq(t.automationId, id), status && eq(t.status, status), ofContact);
  const page = await listPage(read, input, { table: t, where, toItem: (row) => row });
  const paths = await readPaths(
    read,
    page.data.map(({ id }) => id),
  );
  return { ...page, data: page.data.map((row) => showEntry(row, paths.get(row.id))) };
}

/** The steps that entries have taken, in order, by the ids of the entries. */
export async function readPaths(read: Reader, entryIds: readonly string[]): Promise<Map<string, MoveRow[]>> {
  const { automationMoves: m } = read.t;
  const moves: MoveRow[] = [];
  for (const chunk of splitIntoChunks(entryIds))
    moves.push(...(await read.select().from(m).where(inArray(m.entryId, chunk)).orderBy(asc(m.entryId), asc(m.move))));
  return Map.groupBy(moves, ({ entryId }) => entryId);
}

export function showEntry(row: EntryRow, path: readonly MoveRow[] = []): AutomationEntry {
  const instant = (ms: number | null): string | null => (ms === null ? null : iso(ms));
  return {
    id: row.id,
    contactId: row.contactId,
    version: row.version,
    status: row.status,
    reason: row.reason,
    stepId: row.stepId,
    dueAt: instant(row.dueAt),
    enteredAt: iso(row.enteredAt),
    endedAt: instant(row.endedAt),
    goalReachedAt: instant(row.goalReachedAt),
    revenue: (row.revenue ?? 0) / 100,
    goalRevenue: (row.goalRevenue ?? 0) / 100,
    path: path.map(({ stepId, at, outcome, reason, branch, emailId }) => ({ stepId, at: iso(at), outcome, reason, branch, emailId })),
  };
}
