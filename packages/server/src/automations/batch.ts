import { AUTOMATION_LIMITS } from "@mailsvc/sdk/contract";
import type { ContactRow } from "../contacts/contacts.ts";
import type { CounterChange } from "../counters/counters.ts";
import type { Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { assumeContactHeld, assumeEmailHeld, type HeldEmailId } from "../db/held.ts";
import { findMark } from "../events/events.ts";
import { getBrand } from "../workspaces/workspaces.ts";
import type { AutomationDeps } from "./automations.ts";
import { buildRunJob } from "./due.ts";
import { type EntryRow, endEntries } from "./entries.ts";
import type { Plan } from "./plan.ts";
import { countSteps } from "./step-counts.ts";
import type { EntryAt, StepContext, StepResult } from "./steps/step.ts";
import { runSteps } from "./steps/steps.ts";
import type { AutomationRow } from "./store.ts";
import type { AutomationTables } from "./tables.ts";

type MoveRow = AutomationTables["automationMoves"]["$inferSelect"];

/** An entry on its way through a batch. */
interface Going {
  /** As it is now. Its columns for revenue and the goal may be outdated: what happens meanwhile changes them. */
  row: EntryRow;
  /** Its `moves` when it was loaded. */
  readonly movesBefore: number;
  /** As the steps so far left it; null once it is deleted. */
  contact: ContactRow | null;
  readonly plan: Plan;
}

/** End of an entry, with its reason; `waits`: it stays at its step; null: it goes on. */
type Stop = { readonly status: "COMPLETED" | "EXITED" | "FAILED"; readonly reason: string | null } | "waits" | null;

/**
 * Takes entries of one automation, locked by the caller, from step to step until each waits or ends. Entries at steps of one kind take
 * them together. A contact is inside an automation once, so no two of these entries have the same one.
 */
export async function takeSteps(
  tx: Tx,
  deps: AutomationDeps,
  automation: AutomationRow,
  entries: readonly EntryRow[],
  plans: ReadonlyMap<number, Plan>,
): Promise<void> {
  const context: StepContext = {
    tx,
    deps,
    automation,
    now: deps.clock.now(),
    timeZone: memoize(async () => (await getBrand(tx, automation.workspaceId)).timezone),
  };
  const batch = new Batch(context);
  const contacts = await loadContacts(tx, automation.workspaceId, entries);
  let going = entries.map((row): Going => {
    const plan = plans.get(row.version);
    if (!plan) throw new Error(`The version ${row.version} of ${automation.id} was not loaded.`);
    return { row, movesBefore: row.moves, contact: contacts.get(row.contactSeq) ?? null, plan };
  });
  while (going.length > 0) going = await batch.takeOneStepEach(going);
  await batch.write();
}

class Batch {
  readonly #context: StepContext;
  readonly #path: (MoveRow & { readonly emailId: HeldEmailId | null })[] = [];
  readonly #answers: Pick<MoveRow, "entryId" | "move" | "branch">[] = [];
  readonly #counts: CounterChange[] = [];
  /** Due times of the entries that wait. */
  readonly #dueAt = new Set<number>();

  constructor(context: StepContext) {
    this.#context = context;
  }

  /** Returns the entries that go on at once. */
  async takeOneStepEach(going: readonly Going[]): Promise<Going[]> {
    const stops = new Map<Going, Stop>();
    const arrived: (EntryAt & { readonly one: Going })[] = [];
    for (const one of going) {
      const { row, plan, contact } = one;
      const step = plan.find(row.stepId);
      if (contact === null) stops.set(one, { status: "EXITED", reason: "contact_deleted" });
      else if (step === null) stops.set(one, { status: "COMPLETED", reason: null });
      else if (row.moves >= AUTOMATION_LIMITS.moves) stops.set(one, { status: "FAILED", reason: "too_many_steps" });
      else arrived.push({ one, entry: row, contact: assumeContactHeld(contact), step, templates: plan.templates });
    }
    for (const group of Map.groupBy(arrived, ({ step }) => step.type).values()) {
      const results = await runSteps(this.#context, group);
      for (const [i, at] of group.entries()) stops.set(at.one, this.#apply(at.one, at, results[i] as StepResult));
    }
    // At once: what a later step of this batch causes may be what they wait for.
    await this.#stop(stops);
    return going.filter((one) => stops.get(one) === null);
  }

  /** Writes the paths and counts, and the jobs for the entries that wait. */
  async write(): Promise<void> {
    const { tx, deps, automation, now } = this.#context;
    await tx.insertAll(tx.t.automationMoves, this.#path);
    await tx.updateAll(
      tx.t.automationMoves,
      this.#answers.map(({ entryId, move, branch }) => ({ where: { entryId, move }, set: { branch } })),
    );
    await countSteps(tx, automation.id, this.#counts);
    for (const dueAt of this.#dueAt) await deps.queue.enqueue(tx, buildRunJob(automation, dueAt, now));
  }

  /** Moves an entry on by the result of the step it was at. */
  #apply(one: Going, { step }: EntryAt, result: StepResult): Stop {
    const { row, plan } = one;
    const { now } = this.#context;
    const { outcome, reason = null, branch, emailId = null, stay, waitUntil = now } = result;
    one.contact = result.contact ?? one.contact;
    const count = (kind: string, by = 1): void => void this.#counts.push({ kind, seq: row.contactSeq, by });
    if (row.waitingIn !== null) count(`waiting:${row.waitingIn}`, -1);
    if (branch !== undefined) count(`branch:${step.id}:${branch}`);
    const next = plan.next(step.id, branch);
    const gone = { waitingIn: null, waitsFor: null, waitsAfter: null, met: null, failures: 0 };
    // It began this step before, and has its row in the path.
    if (row.waitingIn === step.id) {
      this.#answers.push({ entryId: row.id, move: row.moves - 1, branch: branch ?? null });
      one.row = { ...row, ...gone, stepId: next };
      return next === null ? COMPLETED : null;
    }
    this.#path.push({
      entryId: row.id,
      move: row.moves,
      stepId: step.id,
      at: now,
      outcome,
      reason,
      branch: branch ?? null,
      emailId: emailId === null ? null : assumeEmailHeld(emailId),
    });
    count(`${outcome}:${step.id}`);
    const waits = stay !== undefined || waitUntil > now;
    if (waits) count(`waiting:${step.id}`);
    one.row = {
      ...row,
      ...gone,
      moves: row.moves + 1,
      stepId: stay ? step.id : next,
      dueAt: stay?.until ?? waitUntil,
      waitingIn: waits ? step.id : null,
      waitsFor: stay?.event ?? null,
    };
    if (waits) return "waits";
    if (result.exit) return { status: "EXITED", reason };
    return next === null ? COMPLETED : null;
  }

  async #stop(stops: ReadonlyMap<Going, Stop>): Promise<void> {
    const { tx, deps, automation } = this.#context;
    const waiting = [...stops].flatMap(([one, stop]) => (stop === "waits" ? [one] : []));
    const listens = waiting.some(({ row: { waitsFor } }) => waitsFor !== null);
    const mark = listens ? await findMark(tx, automation.workspaceId) : null;
    const written = await tx.updateAll(
      tx.t.automationEntries,
      waiting.map(({ row: { id, stepId, dueAt, waitingIn, waitsFor, met, moves, failures }, movesBefore }) => ({
        where: { id, moves: movesBefore },
        set: { stepId, dueAt, waitingIn, waitsFor, waitsAfter: waitsFor === null ? null : mark, met, moves, failures },
      })),
    );
    if (written.includes(false)) throw new Error("An entry was moved on while it was locked.");
    for (const { row } of waiting) if (row.dueAt !== null) this.#dueAt.add(row.dueAt);
    const ended = [...stops].flatMap(([{ row }, stop]) => (stop === null || stop === "waits" ? [] : [{ row, stop }]));
    for (const alike of Map.groupBy(ended, ({ stop }) => `${stop.status} ${stop.reason}`).values()) {
      const [{ stop }] = alike as [(typeof alike)[number]];
      await endEntries(
        tx,
        deps,
        alike.map(({ row }) => row),
        stop.status,
        stop.reason,
      );
    }
  }
}

const COMPLETED = { status: "COMPLETED", reason: null } as const;

async function loadContacts(tx: Tx, workspaceId: string, entries: readonly EntryRow[]): Promise<Map<number, ContactRow>> {
  const found = await findRows(tx, tx.t.contacts, { workspaceId, seq: entries.map(({ contactSeq }) => contactSeq) });
  return new Map(found.map((row) => [row.seq, row]));
}

/** A value that is made when it is first asked for. */
function memoize<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
