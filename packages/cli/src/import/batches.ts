import { createHash, hash } from "node:crypto";
import type { JsonRecord, Reject, Row, RowFault } from "@mailsvc/sdk/contact-files";
import { AddressError, parseAddress } from "@mailsvc/sdk/contract";
import { listFaults } from "../contract/validate.ts";
import type { ImportKind } from "./kind.ts";

/** The rows of one request, in the order of the file. */
export interface Batch {
  /** Position in the file, from 0. */
  number: number;
  /** Number of rows of the file, including invalid ones that are not sent. */
  size: number;
  firstLine: number;
  rows: readonly Row[];
  /** Bytes of the source read up to the end of this batch. */
  consumed: number;
  /** Hash over all rows up to the end of this batch; equal only when a later run reads the same rows. */
  chain: string;
}

/** The validated rows of a batch. */
export interface CheckedBatch {
  valid: readonly Row[];
  rejects: readonly Reject[];
  /** The normalized addresses of its rows. */
  keys: ReadonlySet<string>;
}

// The server accepts 30 MB per request. An ordinary contact has a few hundred bytes, so this limit is rarely met.
const MAX_BYTES = 8 * 1024 * 1024;

/** Splits a stream of rows into batches. The same file always gives the same batches. */
export async function* splitIntoBatches(rows: AsyncIterable<Row[]>, limit: number, consumed: () => number): AsyncGenerator<Batch> {
  let chain = "";
  let number = 0;
  let held: Row[] = [];
  let digest = createHash("sha256");
  let bytes = 0;
  const cut = (): Batch => {
    chain = digest.digest("hex");
    const batch: Batch = { number, size: held.length, firstLine: held[0]?.line ?? 0, rows: held, consumed: consumed(), chain };
    number += 1;
    held = [];
    bytes = 0;
    digest = createHash("sha256").update(chain);
    return batch;
  };
  for await (const some of rows)
    for (const row of some) {
      const text = getSourceText(row.source);
      if (held.length > 0 && bytes + text.length * 3 > MAX_BYTES) yield cut();
      digest.update(text).update("\u001e");
      bytes += text.length * 3;
      held.push(row);
      if (held.length === limit) yield cut();
    }
  if (held.length > 0) yield cut();
}

/** Validates rows against the contract, so that invalid rows are not sent. */
export function checkRows(kind: ImportKind, rows: readonly Row[]): CheckedBatch {
  const valid: Row[] = [];
  const rejects: Reject[] = [];
  const keys = new Set<string>();
  for (const row of rows) {
    const { line, source, value, columnOf } = row;
    const faults = listRowFaults(kind, row);
    const address = faults.length === 0 ? readAddress(value["email"]) : null;
    if (address === null) rejects.push({ line, faults, source });
    else if ("fault" in address)
      rejects.push({
        line,
        faults: [{ column: columnOf("email"), field: "email", code: "invalid_email", message: address.fault }],
        source,
      });
    else {
      valid.push(row);
      keys.add(address.key);
    }
  }
  return { valid, rejects, keys };
}

/** The Idempotency-Key of a batch; a resumed import builds the same key. */
export function buildIdempotencyKey(startedAt: string, { number, chain }: Batch): string {
  return `import-${hash("sha256", `${startedAt}\n${number}\n${chain}`, "hex").slice(0, 40)}`;
}

function getSourceText(source: readonly string[] | JsonRecord): string {
  return "text" in source ? source.text : source.join("\u001f");
}

function readAddress(email: unknown): { key: string } | { fault: string } {
  try {
    return { key: parseAddress(String(email)).key };
  } catch (error) {
    if (error instanceof AddressError) return { fault: error.message };
    throw error;
  }
}

/** The faults found while parsing a row, and those the contract finds in it. */
function listRowFaults(kind: ImportKind, { faults, value, columnOf }: Row): readonly RowFault[] {
  // Only report these: if the cells of a row cannot be told apart, any other fault would mislead.
  if (faults.some(({ code }) => code === "invalid_quotes" || code === "too_many_cells" || code === "invalid_json")) return faults;
  const named = (field: string) => ({ column: columnOf(field), field });
  const email = value["email"] === undefined && !faults.some(({ field }) => field === "email");
  const missing = email ? [{ ...named("email"), code: "required", message: "The address is missing." }] : [];
  const found = listFaults(kind.schema, value)
    .filter(({ path }) => path !== "email" || value["email"] !== undefined)
    .map(({ path, code, message }) => ({ ...named(path), code, message }));
  return [...faults, ...missing, ...found].sort((a, b) => Number(b.field === "email") - Number(a.field === "email"));
}
