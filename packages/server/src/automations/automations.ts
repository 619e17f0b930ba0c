import {
  AUTOMATION_DEFAULTS,
  type Automation,
  type AutomationDetail,
  type AutomationPatch,
  type AutomationStatus,
  type AutomationVersion,
  type NewAutomation,
  type Page,
} from "@mailsvc/sdk/contract";
import { and, desc, eq, isNotNull, isNull, lt } from "drizzle-orm";
import { getCounters } from "../counters/counters.ts";
import type { Reader, Tx } from "../db/db.ts";
import { contains } from "../db/dialect.ts";
import { findRows } from "../db/find.ts";
import { listPage, type PageInput, paginateBySeq } from "../db/pagination.ts";
import { ApiError } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { assertRevision } from "../lib/revision.ts";
import type { ListDeps } from "../lists/lists.ts";
import { CLEAR_ENTRIES_JOB } from "./clear.ts";
import { restartDates } from "./dates.ts";
import { assertReferences, pinReferences } from "./references.ts";
import { type AutomationRow, getAutomationRow, getUnarchivedRow, getVersionRow, type VersionRow } from "./store.ts";
import { toKey } from "./triggers.ts";

/** An automation with a version of its definition, the newest by default. Throws ApiError not_found. */
export async function getAutomation(
  q: Tx | Reader,
  workspaceId: string,
  { id, version }: { id: string; version?: number | undefined },
): Promise<AutomationDetail> {
  const row = await getAutomationRow(q, workspaceId, id);
  assertVersion(row, version);
  return showDetail(q, row, version);
}

/** Throws ApiError not_found for a version that the automation does not have. */
export function assertVersion(row: AutomationRow, version: number | undefined): void {
  if (version !== undefined && version > row.version)
    throw new ApiError("not_found", `The automation ${row.id} has no version ${version}: the newest is ${row.version}.`, {
      details: [{ path: "version", code: "not_found", message: `Use a version from 1 to ${row.version}.` }],
    });
}

interface AutomationFilter {
  readonly status?: AutomationStatus | undefined;
  readonly archived?: boolean | undefined;
  readonly search?: string | undefined;
}

/** A page of automations with their numbers, newest first; archived ones only if asked for. */
export async function listAutomations(
  read: Reader,
  workspaceId: string,
  { status, archived = false, search, ...input }: PageInput & AutomationFilter,
): Promise<Page<Automation>> {
  const { automations: t } = read.t;
  const shelf = archived ? isNotNull(t.archivedAt) : isNull(t.archivedAt);
  const found = search === undefined ? undefined : contains(read.sqlDialect, t.name, search);
  const where = and(eq(t.workspaceId, workspaceId), isNull(t.deletedAt), shelf, status && eq(t.status, status), found);
  const page = await listPage(read, input, { table: t, where, toItem: (row) => row });
  const ids = page.data.map(({ id }) => id);
  const [counts, revenue] = [await getCounters(read, ids), await readRevenue(read, ids)];
  return { ...page, data: page.data.map((row) => showAutomation(row, counts.get(row.id), revenue.get(row.id))) };
}

/** Creates a draft. Throws ApiError validation_error. */
export async function createAutomation(tx: Tx, deps: AutomationDeps, workspaceId: string, input: NewAutomation): Promise<AutomationDetail> {
  const { steps, connections, trigger, goal = null } = input;
  await assertReferences(tx, workspaceId, { steps, connections, trigger, goal });
  const now = deps.clock.now();
  const row: AutomationRow = {
    id: deps.ids("aut"),
    workspaceId,
    name: input.name,
    description: input.description ?? null,
    status: "DRAFT",
    nextDateAt: null,
    trigger,
    triggerKey: toKey(trigger),
    goal,
    listensAfter: null,
    goalKey: goal && toKey(goal),
    currency: input.currency ?? AUTOMATION_DEFAULTS.currency,
    version: 1,
    allowReEntry: input.allowReEntry ?? false,
    reEntryDelayHours: input.reEntryDelayHours ?? AUTOMATION_DEFAULTS.reEntryDelayHours,
    createdAt: now,
    updatedAt: now,
    revision: 1,
    archivedAt: null,
    deletedAt: null,
  };
  await tx.insert(tx.t.automations).values(row);
  await tx
    .insert(tx.t.automationVersions)
    .values({ automationId: row.id, version: 1, steps, connections, templates: null, createdAt: now });
  return showDetail(tx, row);
}

/**
 * Changes the fields that were sent; steps and connections make a new version. Throws ApiError not_found, invalid_state if it is
 * archived, conflict if it was changed since `revision`, validation_error or sender_not_verified.
 */
export async function updateAutomation(
  tx: Tx,
  deps: AutomationDeps,
  workspaceId: string,
  { id, revision, ...input }: AutomationPatch & { id: string },
): Promise<AutomationDetail> {
  const before = await getUnarchivedRow(tx, workspaceId, id);
  assertRevision("automation", before.revision, revision);
  const definition = await getVersionRow(tx, id, before.version);
  const trigger = input.trigger ?? before.trigger;
  const goal = input.goal === undefined ? before.goal : input.goal;
  const { steps = definition.steps, connections = definition.connections } = input;
  // Something that was deleted since must not keep an automation from being renamed.
  if (input.trigger ?? input.goal ?? input.steps) await assertReferences(tx, workspaceId, { steps, connections, trigger, goal });
  const now = deps.clock.now();
  const row: AutomationRow = {
    ...before,
    name: input.name ?? before.name,
    description: input.description === undefined ? before.description : input.description,
    trigger,
    triggerKey: toKey(trigger),
    goal,
    goalKey: goal && toKey(goal),
    currency: input.currency ?? before.currency,
    version: input.steps === undefined ? before.version : before.version + 1,
    allowReEntry: input.allowReEntry ?? before.allowReEntry,
    reEntryDelayHours: input.reEntryDelayHours ?? before.reEntryDelayHours,
    updatedAt: now,
    revision: before.revision + 1,
  };
  if (row.version !== before.version) {
    const version: VersionRow = { automationId: id, version: row.version, steps, connections, templates: null, createdAt: now };
    await tx.insert(tx.t.automationVersions).values(version);
    if (row.status === "ACTIVE") await pinReferences(tx, deps, row, version);
  }
  const { id: _, ...columns } = row;
  await tx.update(tx.t.automations).set(columns).where(eq(tx.t.automations.id, id));
  if (input.trigger !== undefined && row.status === "ACTIVE") await restartDates(tx, deps, row);
  return showDetail(tx, row);
}

/** Deletes an automation that is not active; a job deletes its entries. Throws ApiError not_found or invalid_state. */
export async function deleteAutomation(tx: Tx, deps: AutomationDeps, workspaceId: string, id: string): Promise<AutomationDetail> {
  const row = await getAutomationRow(tx, workspaceId, id);
  if (row.status === "ACTIVE")
    throw new ApiError("invalid_state", "This automation is ACTIVE. It would have to be DRAFT or PAUSED.", {
      hint: `Pause it first: mailsvc automations pause ${id}`,
    });
  const detail = await showDetail(tx, row);
  const { automations: t } = tx.t;
  await tx.update(t).set({ deletedAt: deps.clock.now() }).where(eq(t.id, id));
  await deps.queue.enqueue(tx, { kind: CLEAR_ENTRIES_JOB, payload: { workspaceId, automationId: id } });
  return detail;
}

/** An automation with a version of its definition, the newest by default. */
export async function showDetail(q: Tx | Reader, row: AutomationRow, shownVersion = row.version): Promise<AutomationDetail> {
  const { steps, connections } = await getVersionRow(q, row.id, shownVersion);
  const counts = (await getCounters(q, [row.id])).get(row.id);
  const revenue = (await readRevenue(q, [row.id])).get(row.id);
  const { trigger, goal, currency, version, revision } = row;
  const archivedAt = row.archivedAt === null ? null : iso(row.archivedAt);
  return {
    ...showAutomation(row, counts, revenue),
    trigger,
    goal,
    currency,
    version,
    shownVersion,
    revision,
    archivedAt,
    steps,
    connections,
  };
}

function showAutomation(row: AutomationRow, counts: ReadonlyMap<string, number> | undefined, revenue: Revenue | undefined): Automation {
  const count = (kind: string): number => counts?.get(kind) ?? 0;
  const [entered, goals] = [count("entered"), count("goal")];
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    triggerType: row.trigger.type,
    status: row.status,
    totalEntered: entered,
    totalCompleted: count("COMPLETED"),
    revenueGenerated: revenue?.revenue ?? 0,
    goalType: row.goal?.type ?? null,
    goalConversions: goals,
    goalConversionRate: entered === 0 ? 0 : goals / entered,
    goalRevenue: revenue?.goalRevenue ?? 0,
    allowReEntry: row.allowReEntry,
    reEntryDelayHours: row.allowReEntry ? row.reEntryDelayHours : null,
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
  };
}

/** The revenue of an automation, in its currency. */
interface Revenue {
  readonly revenue: number;
  readonly goalRevenue: number;
}

/** The revenue of automations, by their ids; those without any are absent. */
async function readRevenue(q: Tx | Reader, ids: readonly string[]): Promise<Map<string, Revenue>> {
  const rows = await findRows(q, q.t.automationRevenue, { automationId: ids });
  const parts = Map.groupBy(rows, ({ automationId }) => automationId);
  const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0) / 100;
  return new Map(
    [...parts].map(([id, own]) => [id, { revenue: sum(own.map((p) => p.revenue)), goalRevenue: sum(own.map((p) => p.goalRevenue)) }]),
  );
}

/** A page of the definitions of an automation, newest first. Throws ApiError not_found. */
export async function listVersions(
  read: Reader,
  workspaceId: string,
  { id, ...input }: PageInput & { id: string },
): Promise<Page<AutomationVersion>> {
  const automation = await getAutomationRow(read, workspaceId, id);
  const { automationVersions: t } = read.t;
  return paginateBySeq(
    input,
    async ({ below, limit, offset }) => {
      const rows = await read
        .select()
        .from(t)
        // Versions are numbered without gaps, so no larger number than the newest one is needed.
        .where(and(eq(t.automationId, id), lt(t.version, Math.min(below, automation.version + 1))))
        .orderBy(desc(t.version))
        .limit(limit)
        .offset(offset);
      return rows.map((row) => ({ ...row, seq: row.version }));
    },
    async () => automation.version,
    ({ version, steps, templates, createdAt }) => ({
      version,
      current: version === automation.version,
      steps: steps.length,
      templates,
      createdAt: iso(createdAt),
    }),
  );
}

export interface AutomationDeps extends ListDeps {}
