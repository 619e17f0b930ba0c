import { createHash, hash } from "node:crypto";
import { AddressError, addressKey, parseAddress } from "@mailsvc/sdk/contract";
import { listFaults } from "../contract/validate.ts";
import type { ImportKind } from "./kind.ts";
import type { JsonRecord } from "./ndjson.ts";
import type { Row, RowFault } from "./rows.ts";

/** A row that is not taken, and why. */
export interface Reject {
  line: number;
  faults: readonly RowFault[];
  source: Row["source"];
}

/** Rows that go out in one request, in the order of the file. */
export interface Batch {
  /** From 0. */
  number: number;
  /** Rows of the file in it, also those that are not sent. */
  size: number;
  firstLine: number;
  rows: readonly Row[];
  /** Bytes of the source read when it was complete. */
  consumed: number;
  /** Proves that all rows up to the end of this batch are those of an earlier run. */
  chain: string;
}

/** A batch after a look at its rows. */
export interface CheckedBatch {
  valid: readonly Row[];
  rejects: readonly Reject[];
  /** The addresses in it, in the form in which they are compared. */
  keys: ReadonlySet<string>;
}

// A request may be 30 MB; rows of ordinary contacts are some hundred bytes.
const MAX_BYTES = 8 * 1024 * 1024;

/** Cuts a stream of rows into batches: always the same ones for the same file. */
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

/** Checks rows against the contract before they are sent: what cannot be taken does not travel. */
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

/** The key under which a batch is sent, the same one in each run that goes on with an import. */
export function buildIdempotencyKey(startedAt: string, { number, chain }: Batch): string {
  return `import-${hash("sha256", `${startedAt}\n${number}\n${chain}`, "hex").slice(0, 40)}`;
}

function getSourceText(source: readonly string[] | JsonRecord): string {
  return "text" in source ? source.text : source.join("\u001f");
}

function readAddress(email: unknown): { key: string } | { fault: string } {
  try {
    return { key: addressKey(parseAddress(String(email)).address) };
  } catch (error) {
    if (error instanceof AddressError) return { fault: error.message };
    throw error;
  }
}

/** Faults found while reading, and those the contract finds in what could be read. */
function listRowFaults(kind: ImportKind, { faults, value, columnOf }: Row): readonly RowFault[] {
  // With its cells in disorder nothing else that could be said of a row is true.
  if (faults.some(({ code }) => code === "invalid_quotes" || code === "too_many_cells" || code === "invalid_json")) return faults;
  const named = (field: string) => ({ column: columnOf(field), field });
  const email = value["email"] === undefined && !faults.some(({ field }) => field === "email");
  const missing = email ? [{ ...named("email"), code: "required", message: "The address is missing." }] : [];
  const found = listFaults(kind.schema, value)
    .filter(({ path }) => path !== "email" || value["email"] !== undefined)
    .map(({ path, code, message }) => ({ ...named(path), code, message }));
  return [...faults, ...missing, ...found].sort((a, b) => Number(b.field === "email") - Number(a.field === "email"));
}
