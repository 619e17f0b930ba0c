import { parseCsv, SEPARATOR_LINE } from "@mailsvc/sdk/contact-files";
import { decode } from "../import/decode.ts";
import { invalidInput } from "../runtime/errors.ts";

/** A row of an export, with its cells by the names of their columns. */
export interface ExportRow {
  readonly at: string;
  /** Cells that are not empty. */
  readonly cells: ReadonlyMap<string, string>;
  /** Reason for which its cells cannot be told apart; null if they can. */
  readonly fault: string | null;
}

const BATCH = 500;

/** Reads the rows of a CSV file whose columns are known. Throws CliError if one of `needed` is not there. */
export async function* readRows(
  name: string,
  bytes: AsyncIterable<Uint8Array>,
  needed: readonly string[],
): AsyncGenerator<readonly ExportRow[]> {
  let columns: readonly string[] | null = null;
  let rows: ExportRow[] = [];
  for await (const records of parse(name, bytes))
    for (const { line, cells, fault } of records) {
      if (columns === null) {
        columns = cells.map((cell) => cell.trim());
        const missing = needed.filter((column) => !columns?.includes(column));
        if (missing.length > 0)
          throw invalidInput(`${name} has no column ${missing.join(", ")}.`, [], {
            code: "other_file",
            hint: "Is it the export as the service has written it? For other files: mailsvc contacts import FILE",
          });
        continue;
      }
      rows.push({ at: `${name}, line ${line}`, ...readCells(columns, cells, fault?.message ?? null) });
      if (rows.length < BATCH) continue;
      yield rows;
      rows = [];
    }
  if (columns === null) throw invalidInput(`${name} is empty.`, [], { code: "other_file", hint: "Export it again." });
  if (rows.length > 0) yield rows;
}

function readCells(columns: readonly string[], cells: readonly string[], fault: string | null): Omit<ExportRow, "at"> {
  const extra = cells.length > columns.length ? `It has ${cells.length} cells, and the first line names ${columns.length}.` : null;
  const entries = cells.flatMap((cell, i): [string, string][] => (cell === "" || columns[i] === undefined ? [] : [[columns[i], cell]]));
  return { cells: new Map(entries), fault: fault ?? extra };
}

async function* parse(name: string, bytes: AsyncIterable<Uint8Array>): ReturnType<typeof parseCsv> {
  const text = decode(name, bytes);
  const first = await text.next();
  if (first.done) return;
  const [mark = ""] = SEPARATOR_LINE.exec(first.value) ?? [];
  async function* all(): AsyncGenerator<string> {
    yield first.value.slice(mark.length);
    yield* text;
  }
  yield* parseCsv(all(), ",", mark === "" ? 1 : 2);
}
