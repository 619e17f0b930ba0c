import type { AutomationStart, ContactImportSummary } from "@mailsvc/sdk/contract";
import { CONTACT_LIMITS } from "@mailsvc/sdk/contract/facts";
import { signal } from "@preact/signals";
import type { Reject } from "../../../../sdk/src/contact-files/reject-lines.ts";
import type { Row } from "../../../../sdk/src/contact-files/rows.ts";
import { api } from "../../api/client.ts";
import { asRequestError, RequestError, withoutPath } from "../../api/request-error.ts";
import { pause } from "../../browser.ts";
import type { ImportStore } from "./import-store.ts";
import { type RowPlan, readRows } from "./opened-file.ts";

/** Import as decided in the preparation. */
export interface ImportPlan extends RowPlan {
  /** Unique: the requests of the import have keys that begin with it, so that none counts twice. */
  readonly id: string;
  readonly mode: "upsert" | "skip";
  /** The list that the people join; null for none. */
  readonly listId: string | null;
  /** Only says what would happen. */
  readonly dryRun: boolean;
  /** True if imported people enter automations. */
  readonly startAutomations: boolean;
  /** The tag that everybody gets: null for none, and empty for one with the day and a number. */
  readonly tag: string | null;
}

/** Progress of an import. */
export interface ImportProgress {
  /** Batches that were sent. */
  readonly batches: number;
  readonly rows: number;
  /** Bytes of the file that were read. */
  readonly bytes: number;
  readonly failed: number;
  /** Counts of contacts (created, updated, unchanged, skipped, suppressed) and of people who joined the list or were asked to. */
  readonly counts: Readonly<Record<string, number>>;
}

const NOTHING: ImportProgress = { batches: 0, rows: 0, bytes: 0, failed: 0, counts: {} };

type ImportState = "running" | "stopped" | "done";

// A request has 30 MB at most. An ordinary contact has a few hundred bytes, so this limit is rarely met.
const MAX_CHARACTERS = 4_000_000;

// Rows that failed and are kept to be downloaded.
const MAX_REJECTS = 50_000;

// A server that is restarted is back within a minute.
const TRIES = 8;
const RETRY_MS = 500;

/** Sends a file batch by batch, in the order of the file: of two rows about one contact the later one wins. */
export class Importer {
  readonly file: File;
  readonly plan: ImportPlan;
  readonly state = signal<ImportState>("stopped");
  readonly progress;
  readonly rejects;
  /** The automations that people entered, or would. */
  readonly automations = signal<readonly AutomationStart[]>([]);
  /** The import on the server, which can be undone. */
  readonly record = signal<ContactImportSummary | null>(null);
  /** Error that stopped it; null while it runs, or when a person stopped it. */
  readonly error = signal<RequestError | null>(null);
  readonly #store: ImportStore | null;
  #over = new AbortController();

  /** Creates an import; with a store, it can continue after the page was closed. */
  constructor(file: File, plan: ImportPlan, store: ImportStore | null, progress = NOTHING, rejects: readonly Reject[] = []) {
    this.file = file;
    this.plan = plan;
    this.#store = store;
    this.progress = signal(progress);
    this.rejects = signal(rejects);
  }

  /** Sends what was not sent yet. Does not throw: `error` says what went wrong. */
  async run(): Promise<void> {
    if (this.state.peek() === "running") return;
    this.#over = new AbortController();
    this.state.value = "running";
    this.error.value = null;
    try {
      await this.#sendAll(this.#over.signal);
      this.state.value = this.#over.signal.aborted ? "stopped" : "done";
      if (this.state.peek() === "done") await this.#store?.clear();
    } catch (cause) {
      this.error.value = this.#over.signal.aborted ? null : asRequestError(cause);
      this.state.value = "stopped";
    }
  }

  /** Stops after the batch that is under way. */
  stop(): void {
    this.#over.abort();
  }

  #addStarts(more: readonly AutomationStart[]): void {
    const sums = new Map(this.automations.peek().map((one) => [one.id, one]));
    for (const one of more) sums.set(one.id, { ...one, contacts: one.contacts + (sums.get(one.id)?.contacts ?? 0) });
    this.automations.value = [...sums.values()];
  }

  async #sendAll(over: AbortSignal): Promise<void> {
    const { id, tag, dryRun } = this.plan;
    if (!dryRun) {
      const body = { file: this.file.name.slice(0, 255), ...(tag === "" ? {} : { tag }) };
      this.record.value = await retry(() => api.contacts.startImport(body, { idempotencyKey: `import-${id}` }), over);
    }
    const sent = this.progress.peek().batches;
    let number = 0;
    for await (const { rows, bytes } of splitRows(readRows(this.file, this.plan))) {
      number += 1;
      if (number <= sent) continue;
      if (over.aborted) return;
      const { counts, rejects } = await this.#send(rows, number, over);
      const before = this.progress.peek();
      const sums = { ...before.counts };
      for (const [name, n] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + n;
      const next = { batches: number, rows: before.rows + rows.length, bytes, failed: before.failed + rejects.length, counts: sums };
      // Without it a resumed import sends this batch again, which changes nothing.
      await this.#store?.save(next, rejects).catch(() => {});
      this.progress.value = next;
      if (rejects.length > 0) this.rejects.value = [...this.rejects.peek(), ...rejects].slice(0, MAX_REJECTS);
    }
  }

  async #send(rows: readonly Row[], number: number, over: AbortSignal) {
    const { id, mode, dryRun, listId, startAutomations } = this.plan;
    const record = this.record.peek();
    const good = rows.filter(({ faults }) => faults.length === 0);
    const rejects: Reject[] = rows.flatMap(({ line, source, faults }) => (faults.length > 0 ? [{ line, source, faults }] : []));
    const counts: Record<string, number> = {};
    if (good.length > 0) {
      const where = { ...(record !== null && { import: record.id }), ...(listId !== null && { list: listId }) };
      const body = { rows: good.map(({ value }) => value), mode, dryRun, startAutomations, ...where };
      const options = dryRun ? {} : { idempotencyKey: `import-${id}-${number}` };
      const {
        results: _,
        errors,
        failed: __,
        dryRun: ___,
        automations,
        ...answer
      } = await retry(() => api.contacts.import(body, options), over);
      Object.assign(counts, answer);
      this.#addStarts(automations);
      const refused = new Set(errors.map(({ index }) => index));
      const taken = good.filter((_, i) => !refused.has(i));
      counts["optedOut"] = taken.filter(({ value }) => value["status"] === "UNSUBSCRIBED").length;
      counts["neverAgreed"] = taken.filter(({ value }) => value["initialStatus"] !== undefined).length;
      for (const index of refused) {
        const row = good[index];
        if (!row) continue;
        const faults = errors
          .filter((error) => error.index === index)
          .map(({ path, code, message }) => ({ column: row.columnOf(path), field: path, code, message: withoutPath(message, path) }));
        rejects.push({ line: row.line, source: row.source, faults });
      }
    }
    return { counts, rejects: rejects.sort((a, b) => a.line - b.line) };
  }
}

/** Rows in batches of one request each. The same file always gives the same batches. */
async function* splitRows(
  pieces: AsyncIterable<{ readonly rows: readonly Row[]; readonly bytes: number }>,
): AsyncGenerator<{ readonly rows: readonly Row[]; readonly bytes: number }> {
  let held: Row[] = [];
  let characters = 0;
  let bytes = 0;
  for await (const piece of pieces) {
    const from = bytes;
    for (const [i, row] of piece.rows.entries()) {
      // Estimates the row's offset in the file from its place in the piece.
      bytes = from + Math.round(((piece.bytes - from) * i) / piece.rows.length);
      const length = "text" in row.source ? row.source.text.length : row.source.reduce((sum, cell) => sum + cell.length, 0);
      if (held.length === CONTACT_LIMITS.importRows || (held.length > 0 && characters + length > MAX_CHARACTERS)) {
        yield { rows: held, bytes };
        held = [];
        characters = 0;
      }
      held.push(row);
      characters += length;
    }
    bytes = piece.bytes;
  }
  if (held.length > 0) yield { rows: held, bytes };
}

/** Calls again while the server is busy or does not answer, for about a minute. */
async function retry<T>(call: () => Promise<T>, over: AbortSignal): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await call();
    } catch (cause) {
      const temporary = cause instanceof RequestError && (cause.status === 0 || cause.status === 429 || cause.status >= 500);
      if (!temporary || failures >= TRIES || over.aborted) throw cause;
      await pause(RETRY_MS * 2 ** (failures - 1), over);
    }
  }
}
