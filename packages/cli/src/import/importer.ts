import type { Reject } from "@mailsvc/sdk/contact-files";
import type { AutomationStart } from "@mailsvc/sdk/contract";
import { usageError } from "../runtime/errors.ts";
import { buildCall } from "../runtime/request.ts";
import type { Session } from "../types.ts";
import { type Batch, buildIdempotencyKey, type CheckedBatch, checkRows, splitIntoBatches } from "./batches.ts";
import type { Checkpoint, ImportProgress } from "./checkpoint.ts";
import type { BatchOutcome, ImportFlags, ImportKind } from "./kind.ts";
import type { RejectsFile } from "./rejects.ts";
import type { Source } from "./source.ts";
import type { Table } from "./table.ts";

/** The state of a running import; mutated in place, so that a display can poll it. */
export interface ImportState {
  /** Rows processed, including those of earlier runs. */
  rows: number;
  failed: number;
  /** Number of rows by outcome. */
  counts: Record<string, number>;
  /** The automations that contacts entered, or would. */
  automations: readonly AutomationStart[];
  /** Bytes of the source whose rows are recorded. */
  consumed: number;
  /** Rows recorded by earlier runs, and their size in bytes. */
  resumedAt: number;
  resumedBytes: number;
  stopping: boolean;
}

/** Outcome of an import. */
export type ImportResult = { why: "done" } | { why: "cancelled" } | { why: "too_many_errors" } | { why: "failed"; error: unknown };

interface ImportJob {
  session: Session;
  kind: ImportKind;
  source: Source;
  table: Table;
  flags: ImportFlags;
  batchSize: number;
  concurrency: number;
  /** Rows that may fail before the import stops. */
  maxErrors: number;
  /** Null when no progress is recorded: for a pipe and for --dry-run. */
  checkpoint: Checkpoint | null;
  rejects: RejectsFile | null;
  /** Progress to start from: recorded by an earlier run, or new. */
  from: ImportProgress;
  state: ImportState;
  onRejects(rejects: readonly Reject[]): void;
}

interface InFlightBatch {
  batch: Batch;
  checked: CheckedBatch;
  answer: Promise<{ outcome: BatchOutcome } | { error: unknown }>;
}

// Effectively unlimited: --timeout ends the retries, with waits of up to 8 s.
const RETRIES = 100;

/**
 * Sends a table batch by batch, several at a time, and records the responses in the order of the file. Two batches that
 * share an address are never in flight together, so that of two rows about one contact the later one wins. Stops after the
 * batches in flight when the session's signal fires or when too many rows failed. Does not throw.
 *
 * | state     | trigger                                        | next                                                        |
 * | --------- | ---------------------------------------------- | ----------------------------------------------------------- |
 * | reading   | a batch, and room for it                       | reading: the batch is in flight                             |
 * | reading   | a batch, but no room or a shared address       | reading, after the oldest batch in flight is recorded       |
 * | reading   | end of the file                                | draining                                                    |
 * | reading   | Ctrl-C, more than --max-errors, a failed batch | draining: nothing more is sent                              |
 * | draining  | a response                                     | draining: recorded, unless an earlier batch was not         |
 * | draining  | nothing in flight                              | done, cancelled, too_many_errors or failed                  |
 */
export async function runImport(job: ImportJob): Promise<ImportResult> {
  const { session, state, source, table, kind } = job;
  const progress: ImportProgress = { ...job.from, counts: { ...job.from.counts } };
  const inFlight: InFlightBatch[] = [];
  // The first batch that was not recorded. No later one may be recorded either: a resumed import starts with this batch.
  let gap: { error: unknown } | null = null;

  const awaitOldest = async (): Promise<void> => {
    const oldest = inFlight.shift();
    if (!oldest) return;
    const answer = await oldest.answer;
    if (gap) return;
    if ("error" in answer) gap = answer;
    else
      try {
        recordBatch(job, progress, oldest, answer.outcome);
      } catch (error) {
        gap = { error };
      }
  };
  const mustStop = (): boolean => gap !== null || session.signal.aborted || progress.failed > job.maxErrors;
  const sharesAddress = (keys: ReadonlySet<string>): boolean =>
    inFlight.some(({ checked }) => [...keys].some((key) => checked.keys.has(key)));
  const startBatch = async (batch: Batch): Promise<void> => {
    const checked = checkRows(kind, batch.rows);
    while (inFlight.length > 0 && !mustStop() && (inFlight.length >= job.concurrency || sharesAddress(checked.keys))) await awaitOldest();
    if (mustStop()) return;
    const answer = sendBatch(job, batch, checked).then(
      (outcome) => ({ outcome }),
      (error: unknown) => ({ error }),
    );
    inFlight.push({ batch, checked, answer });
  };
  const readAll = async (): Promise<void> => {
    let last = 0;
    for await (const batch of splitIntoBatches(table.rows(), job.batchSize, source.consumed)) {
      last = batch.number + 1;
      if (last > job.from.batches) await startBatch(batch);
      else if (last === job.from.batches) {
        if (batch.chain !== job.from.chain) throw fileChangedError(job);
        state.consumed = state.resumedBytes = batch.consumed;
      }
      if (mustStop()) return;
    }
    if (last < job.from.batches) throw fileChangedError(job);
  };

  const readError = await readAll().then(
    () => null,
    (error: unknown) => ({ error }),
  );
  state.stopping = readError !== null || mustStop();
  while (inFlight.length > 0) await awaitOldest();
  const failure = (gap as { error: unknown } | null) ?? readError;
  if (session.signal.aborted) return { why: "cancelled" };
  if (failure) return { why: "failed", error: failure.error };
  return progress.failed > job.maxErrors ? { why: "too_many_errors" } : { why: "done" };
}

async function sendBatch({ session, kind, flags, from }: ImportJob, batch: Batch, { valid }: CheckedBatch): Promise<BatchOutcome> {
  if (valid.length === 0) return { counts: {}, faults: [], automations: [] };
  const call = buildCall(
    kind.endpoint,
    [],
    {},
    kind.body(
      valid.map((row) => row.value),
      flags,
      from.importId,
    ),
  );
  const headers: Record<string, string> = flags.dryRun ? {} : { "Idempotency-Key": buildIdempotencyKey(from.startedAt, batch) };
  // Ctrl-C does not abort a batch in flight: it may arrive anyway, so its outcome must be recorded.
  const { data } = await session.send({ ...call, headers, retries: RETRIES, untilDone: true });
  const { counts, faults, automations } = kind.outcome(data);
  const refused = new Set(faults.map(({ index }) => index));
  const taken = valid.filter((_, i) => !refused.has(i));
  const optedOut = taken.filter(({ value }) => value["status"] === "UNSUBSCRIBED").length;
  const neverAgreed = taken.filter(({ value }) => value["initialStatus"] !== undefined).length;
  return { counts: { ...counts, ...(optedOut > 0 && { optedOut }), ...(neverAgreed > 0 && { neverAgreed }) }, faults, automations };
}

/** The rows that failed validation and those the server refused, in the order of the file. */
function listRejects({ valid, rejects }: CheckedBatch, outcome: BatchOutcome): Reject[] {
  const refused = new Map<number, Reject>();
  for (const { index, path, code, message } of outcome.faults) {
    const row = valid[index];
    if (!row) continue;
    const before = refused.get(index);
    const fault = { column: row.columnOf(path), field: path, code, message };
    refused.set(index, { line: row.line, source: row.source, faults: [...(before?.faults ?? []), fault] });
  }
  return [...rejects, ...refused.values()].sort((a, b) => a.line - b.line);
}

/** Records a batch: counts, failed rows and progress. Batches are recorded in the order of the file. */
function recordBatch(job: ImportJob, progress: ImportProgress, { batch, checked }: InFlightBatch, outcome: BatchOutcome): void {
  const rejects = listRejects(checked, outcome);
  progress.batches = batch.number + 1;
  progress.chain = batch.chain;
  progress.rows += batch.size;
  progress.failed += rejects.length;
  for (const [name, n] of Object.entries(outcome.counts)) progress.counts[name] = (progress.counts[name] ?? 0) + n;
  progress.automations = addStarts(progress.automations, outcome.automations);
  job.rejects?.write(rejects);
  progress.errorsBytes = job.rejects?.bytes() ?? 0;
  job.checkpoint?.save(progress);
  Object.assign(job.state, {
    rows: progress.rows,
    failed: progress.failed,
    counts: { ...progress.counts },
    automations: progress.automations,
    consumed: batch.consumed,
  });
  if (rejects.length > 0) job.onRejects(rejects);
}

function addStarts(before: readonly AutomationStart[], more: readonly AutomationStart[]): AutomationStart[] {
  const byId = Map.groupBy([...before, ...more], ({ id }) => id);
  return [...byId.values()].flatMap(([first, ...rest]) =>
    first ? [{ ...first, contacts: rest.reduce((sum, { contacts }) => sum + contacts, first.contacts) }] : [],
  );
}

function fileChangedError(job: ImportJob): Error {
  return usageError(`${job.source.name} has changed within the first ${job.from.rows} rows, which were already imported.`, {
    code: "file_changed",
    hint: `Start over with --restart. The recorded progress is in ${job.checkpoint?.path}.`,
  });
}
