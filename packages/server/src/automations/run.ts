import { AUTOMATION_LIMITS, type AutomationStep } from "@mailsvc/sdk/contract";
import { and, eq, isNull } from "drizzle-orm";
import type { ContactRow } from "../contacts/contacts.ts";
import type { Reader, Tx } from "../db/db.ts";
import type { Deps } from "../deps.ts";
import type { JobHandler } from "../queue/queue.ts";
import { type AutomationRow, findVersion, type VersionRow } from "./automations.ts";
import { buildStepJob, type EntryRow, endEntries } from "./entries.ts";
import { type PreparedMail, prepareMail } from "./mail.ts";
import { countMove } from "./step-counts.ts";
import { type StepResult, takeStep } from "./steps.ts";

/** What the next step of an entry needs. */
interface Loaded {
  readonly entry: EntryRow;
  readonly automation: AutomationRow;
  readonly version: VersionRow;
  /** Null at the end of the path. */
  readonly step: AutomationStep | null;
  /** Null once it is deleted. */
  readonly contact: ContactRow | null;
}

/**
 * Takes the next step of an entry. The effect of the step, its row in the path, the move of the entry and the job of the next step are
 * rows of one transaction with the end of this job, so a crash repeats a step as a whole or not at all.
 *
 * | entry          | automation | contact | the job                                                  |
 * | -------------- | ---------- | ------- | -------------------------------------------------------- |
 * | at this move   | ACTIVE     | there   | takes the step; enqueues the next one, or ends the entry  |
 * | at this move   | ACTIVE     | deleted | ends the entry as EXITED                                  |
 * | at this move   | PAUSED     | any     | nothing: activating enqueues the entry again              |
 * | moved on, over | any        | any     | nothing: another job took this step                       |
 * | any            | deleted    | any     | nothing                                                   |
 */
export function runStep(deps: Deps): JobHandler {
  return async ({ payload }) => {
    const [entryId, move] = [String(payload.entryId), Number(payload.move)];
    const seen = await load(deps.db.read, entryId, move);
    const mail = seen && (await prepare(deps.db.read, seen));
    return {
      // The contact was changed after its mail had been rendered: it is rendered again.
      commit: async (tx) => {
        const loaded = await load(tx, entryId, move);
        if (!loaded) return;
        if (isOutdated(mail, loaded)) return deps.queue.enqueue(tx, buildStepJob(loaded.entry, deps.clock.now()));
        await run(tx, deps, loaded, mail);
      },
    };
  };
}

function isOutdated(mail: PreparedMail | null, { step, contact }: Loaded): boolean {
  if (step?.type !== "send_email" || contact === null) return false;
  return mail === null || ("contactUpdatedAt" in mail && mail.contactUpdatedAt !== contact.updatedAt);
}

async function prepare(read: Reader, { step, contact, version }: Loaded): Promise<PreparedMail | null> {
  return step?.type === "send_email" && contact !== null ? prepareMail(read, contact, step, version.templates) : null;
}

async function run(tx: Tx, deps: Deps, { entry, version, step, contact }: Loaded, mail: PreparedMail | null): Promise<void> {
  if (contact === null) return endEntries(tx, deps, [entry], "EXITED", "contact_deleted");
  if (step === null) return endEntries(tx, deps, [entry], "COMPLETED", null);
  if (entry.moves >= AUTOMATION_LIMITS.moves) return endEntries(tx, deps, [entry], "FAILED", "too_many_steps");
  const now = deps.clock.now();
  const { waitMs, exit = false, ...result } = await takeStep(step, { tx, deps, entry, contact, mail });
  const next = version.connections.find(({ from, branch }) => from === step.id && branch === result.branch)?.to ?? null;
  const waitingIn = waitMs === undefined ? null : step.id;
  const moved = { ...entry, stepId: next, dueAt: now + (waitMs ?? 0), waitingIn, moves: entry.moves + 1 };
  await move(tx, entry, moved, { ...result, stepId: step.id, at: now });
  await countMove(tx, entry, moved, { ...result, stepId: step.id });
  if (exit) return endEntries(tx, deps, [moved], "EXITED", result.reason ?? null);
  // The end of the path comes at once, unless the last step is a delay.
  if (next === null && waitMs === undefined) return endEntries(tx, deps, [moved], "COMPLETED", null);
  await deps.queue.enqueue(tx, buildStepJob(moved, now));
}

type Taken = Omit<StepResult, "waitMs" | "exit"> & { readonly stepId: string; readonly at: number };

/** Moves an entry on, and adds the step to its path. */
async function move(tx: Tx, entry: EntryRow, { stepId, dueAt, waitingIn, moves }: EntryRow, taken: Taken): Promise<void> {
  const { automationEntries: e, automationMoves: m } = tx.t;
  await tx
    .update(e)
    .set({ stepId, dueAt, waitingIn, moves })
    .where(and(eq(e.id, entry.id), eq(e.moves, entry.moves)));
  const { reason = null, branch = null, emailId = null } = taken;
  await tx.insert(m).values({ ...taken, entryId: entry.id, move: entry.moves, reason, branch, emailId });
}

/** What the next step of an entry needs; null if it is not at this move any more, or its automation does not run. */
async function load(q: Tx | Reader, entryId: string, move: number): Promise<Loaded | null> {
  const { automationEntries: e, automations: a, contacts: c } = q.t;
  const [found] = await q
    .select({ entry: e, automation: a, contact: c })
    .from(e)
    .innerJoin(a, eq(a.id, e.automationId))
    .leftJoin(c, eq(c.seq, e.contactSeq))
    .where(and(eq(e.id, entryId), eq(e.status, "ACTIVE"), eq(e.moves, move), eq(a.status, "ACTIVE"), isNull(a.deletedAt)));
  if (!found) return null;
  const version = await findVersion(q, found.automation.id, found.entry.version);
  return { ...found, version, step: version.steps.find(({ id }) => id === found.entry.stepId) ?? null };
}
