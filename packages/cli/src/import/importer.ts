import { usageError } from "../errors.ts";
import { callOf } from "../request.ts";
import type { Session } from "../session.ts";
import { type Batch, batchesOf, type Checked, checkRows, idempotencyKeyOf, type Reject } from "./batches.ts";
import type { Checkpoint, Progress } from "./checkpoint.ts";
import type { ImportFlags, Kind, Outcome } from "./kind.ts";
import type { RejectsFile } from "./rejects.ts";
import type { Source } from "./source.ts";
import type { Table } from "./table.ts";

/** How an import stands; changed in place, so that a screen can look at it whenever it likes. */
export interface Standing {
  /** Rows of the file gone by, those of an earlier run among them. */
  rows: number;
  failed: number;
  /** How many rows came to what. */
  counts: Record<string, number>;
  /** Bytes of the source whose rows are done. */
  consumed: number;
  /** Rows done by an earlier run, and the bytes they take. */
  resumedAt: number;
  resumedBytes: number;
  stopping: boolean;
}

/** Why an import ended. */
export type Ending = { why: "done" } | { why: "cancelled" } | { why: "too_many_errors" } | { why: "failed"; error: unknown };

export interface Job {
  session: Session;
  kind: Kind;
  source: Source;
  table: Table;
  flags: ImportFlags;
  batchSize: number;
  concurrency: number;
  /** Rows that may fail before the import stops. */
  maxErrors: number;
  /** Null where nothing is noted: from a pipe, and for a trial. */
  checkpoint: Checkpoint | null;
  rejects: RejectsFile | null;
  /** Progress to begin from: noted by an earlier run, or new. */
  from: Progress;
  standing: Standing;
  onRejects(rejects: readonly Reject[]): void;
}

interface Flight {
  batch: Batch;
  checked: Checked;
  answer: Promise<{ outcome: Outcome } | { error: unknown }>;
}

// Tried again for as long as --timeout allows; waits grow to 8 s.
const RETRIES = 100;

/**
 * Sends a table batch by batch, several at a time, and books the answers in the order of the file. Batches that share an
 * address are never on their way together, so that of two rows about one contact the later one counts. Stops after the
 * batches on their way when the session's signal fires, or when too many rows failed. Does not throw.
 */
export async function runImport(job: Job): Promise<Ending> {
  const { session, standing, source, table, kind } = job;
  const progress: Progress = { ...job.from, counts: { ...job.from.counts } };
  const flights: Flight[] = [];
  // A batch that was not booked: none behind it may be either, and an import that goes on begins with it.
  let gap: { error: unknown } | null = null;

  const land = async (): Promise<void> => {
    const flight = flights.shift();
    if (!flight) return;
    const answer = await flight.answer;
    if (gap) return;
    if ("error" in answer) gap = answer;
    else
      try {
        book(job, progress, flight, answer.outcome);
      } catch (error) {
        gap = { error };
      }
  };
  const enough = (): boolean => gap !== null || session.signal.aborted || progress.failed > job.maxErrors;
  const meets = (keys: ReadonlySet<string>): boolean => flights.some(({ checked }) => [...keys].some((key) => checked.keys.has(key)));
  const launch = async (batch: Batch): Promise<void> => {
    const checked = checkRows(kind, batch.rows);
    while (flights.length > 0 && !enough() && (flights.length >= job.concurrency || meets(checked.keys))) await land();
    if (enough()) return;
    const answer = send(job, batch, checked).then(
      (outcome) => ({ outcome }),
      (error: unknown) => ({ error }),
    );
    flights.push({ batch, checked, answer });
  };
  const readAll = async (): Promise<void> => {
    let last = 0;
    for await (const batch of batchesOf(table.rows(), job.batchSize, source.consumed)) {
      last = batch.number + 1;
      if (last > job.from.batches) await launch(batch);
      else if (last === job.from.batches) {
        if (batch.chain !== job.from.chain) throw changed(job);
        standing.consumed = standing.resumedBytes = batch.consumed;
      }
      if (enough()) return;
    }
    if (last < job.from.batches) throw changed(job);
  };

  const broken = await readAll().then(
    () => null,
    (error: unknown) => ({ error }),
  );
  standing.stopping = broken !== null || enough();
  while (flights.length > 0) await land();
  const failure = (gap as { error: unknown } | null) ?? broken;
  if (session.signal.aborted) return { why: "cancelled" };
  if (failure) return { why: "failed", error: failure.error };
  return progress.failed > job.maxErrors ? { why: "too_many_errors" } : { why: "done" };
}

async function send({ session, kind, flags, from }: Job, batch: Batch, { valid }: Checked): Promise<Outcome> {
  if (valid.length === 0) return { counts: {}, faults: [] };
  const call = callOf(
    kind.endpoint,
    [],
    {},
    kind.body(
      valid.map((row) => row.value),
      flags,
    ),
  );
  const headers: Record<string, string> = flags.dryRun ? {} : { "Idempotency-Key": idempotencyKeyOf(from.startedAt, batch) };
  // Not called off by Ctrl-C: a batch that is on its way arrives, and its outcome is worth knowing.
  const { data } = await session.send({ ...call, headers, retries: RETRIES, untilDone: true });
  return kind.outcome(data);
}

/** Rows of the answer's faults beside those found here, in the order of the file. */
function rejectsOf({ valid, rejects }: Checked, outcome: Outcome): Reject[] {
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

/** Books a batch, in the order of the file: counts, rows that failed, and how far the import has come. */
function book(job: Job, progress: Progress, { batch, checked }: Flight, outcome: Outcome): void {
  const rejects = rejectsOf(checked, outcome);
  progress.batches = batch.number + 1;
  progress.chain = batch.chain;
  progress.rows += batch.size;
  progress.failed += rejects.length;
  for (const [name, n] of Object.entries(outcome.counts)) progress.counts[name] = (progress.counts[name] ?? 0) + n;
  job.rejects?.write(rejects);
  progress.errorsBytes = job.rejects?.bytes() ?? 0;
  job.checkpoint?.save(progress);
  Object.assign(job.standing, { rows: progress.rows, failed: progress.failed, counts: { ...progress.counts }, consumed: batch.consumed });
  if (rejects.length > 0) job.onRejects(rejects);
}

function changed(job: Job): Error {
  return usageError(`${job.source.name} is not the file the import began with, up to row ${job.from.rows}.`, {
    code: "file_changed",
    hint: `Begin anew with --restart. What the import had come to is noted in ${job.checkpoint?.path}.`,
  });
}
