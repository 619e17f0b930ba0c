/** One record: its cells, unquoted. */
export interface CsvRecord {
  /** The line it starts on, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
  /** A quoting error: the column, from 1, and a message. The last cell is then the unparsed rest of the line. */
  readonly fault: { readonly column: number; readonly message: string } | null;
}

/** Real records have a few kB; one longer than this has a quote that is never closed. */
export const MAX_RECORD = 1024 * 1024;

/** A file without line breaks, which is not a table. */
export class LineTooLongError extends Error {
  override name = "LineTooLongError";
  /** Likely cause. */
  readonly hint = "Is this a text file with one contact on each line?";
  constructor(line: number) {
    super(`Line ${line} is longer than ${MAX_RECORD / 1024 / 1024} MiB.`);
  }
}

const QUOTE = 0x22;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;

interface ScannedRecord {
  cells: string[];
  /** Start of the next record. */
  next: number;
  /** Number of line breaks in this record. */
  lines: number;
  fault: CsvRecord["fault"];
}

/**
 * Parses a stream of CSV: quotes as in RFC 4180, any separator, and LF, CRLF or CR, also mixed. Blanks around a cell are
 * dropped unless quoted; a quote inside an unquoted cell is literal. Empty records are skipped. A record with a quoting
 * error carries a fault and ends with its first line. Throws LineTooLongError for a line longer than 2 * MAX_RECORD.
 */
export async function* parseCsv(chunks: AsyncIterable<string>, separator: string, firstLine = 1): AsyncGenerator<CsvRecord[]> {
  const mark = separator.charCodeAt(0);
  let text = "";
  let line = firstLine;
  let at = 0;
  const records = (final: boolean): CsvRecord[] => {
    const found: CsvRecord[] = [];
    while (at < text.length) {
      const scanned = scanRecord(text, at, mark, final);
      if (scanned === null) {
        if (text.length - at > 2 * MAX_RECORD) throw new LineTooLongError(line);
        break;
      }
      if (!isBlank(scanned)) found.push({ line, cells: scanned.cells, fault: scanned.fault });
      at = scanned.next;
      line += scanned.lines;
    }
    return found;
  };
  for await (const chunk of chunks) {
    text = text.slice(at) + chunk;
    at = 0;
    yield records(false);
  }
  yield records(true);
}

/** Parses the first record of a text, for detecting the separator. */
export function parseFirstRecord(text: string, separator: string): readonly string[] {
  return scanRecord(text, 0, separator.charCodeAt(0), true)?.cells ?? [];
}

/** Formats one cell, quoted when necessary. */
function formatCell(text: string, separator = ","): string {
  return text.includes('"') || text.includes(separator) || /[\r\n\t]|^\s|\s$/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Formats one line of CSV, ending in CRLF (RFC 4180). */
export function formatLine(cells: readonly string[], separator = ","): string {
  return `${cells.map((cell) => formatCell(cell, separator)).join(separator)}\r\n`;
}

function countLineBreaks(text: string, from: number, to: number): number {
  let n = 0;
  for (let i = from; i < to; i += 1) {
    const c = text.charCodeAt(i);
    if (c === LF || (c === CR && text.charCodeAt(i + 1) !== LF)) n += 1;
  }
  return n;
}

/** The end of the physical line around `at`, after its line break; null when more text is needed. */
function findLineEnd(text: string, at: number, final: boolean): number | null {
  for (let i = at; i < text.length; i += 1) {
    const c = text.charCodeAt(i);
    if (c === LF) return i + 1;
    if (c !== CR) continue;
    if (i + 1 === text.length && !final) return null;
    return text.charCodeAt(i + 1) === LF ? i + 2 : i + 1;
  }
  return final ? text.length : null;
}

/** Scans one record. Returns null when the text ends inside it and more may follow. */
function scanRecord(text: string, from: number, separator: number, final: boolean): ScannedRecord | null {
  const cells: string[] = [];
  let lines = 0;
  let cellFrom = from;
  // A record with a quoting error ends with its first line, so that it does not swallow the next lines.
  const fail = (message: string): ScannedRecord | null => {
    const next = findLineEnd(text, from, final);
    if (next === null) return null;
    const rest = text.slice(cellFrom, Math.max(cellFrom, next)).split(/[\r\n]/)[0] ?? "";
    return { cells: [...cells, rest], next, lines: countLineBreaks(text, from, next), fault: { column: cells.length + 1, message } };
  };
  const blank = (c: number): boolean => c === SPACE || (c === TAB && separator !== TAB);
  for (let at = from; ; ) {
    cellFrom = at;
    let i = at;
    while (blank(text.charCodeAt(i))) i += 1;
    if (text.charCodeAt(i) === QUOTE) {
      let value = "";
      const opened = i;
      for (let begin = i + 1; ; ) {
        const end = text.indexOf('"', begin);
        if (end === -1 || end + 1 === text.length) {
          const cut = text.length - from > MAX_RECORD;
          if (!final && !cut) return null;
          if (end === -1) return fail("The quote that opens here is never closed.");
        }
        value += text.slice(begin, end);
        i = end + 1;
        if (text.charCodeAt(i) !== QUOTE) break;
        value += '"';
        begin = i + 1;
      }
      lines += countLineBreaks(text, opened, i);
      while (blank(text.charCodeAt(i))) i += 1;
      const c = text.charCodeAt(i);
      if (i < text.length && c !== separator && c !== LF && c !== CR) {
        const shown = text.slice(i, i + 10).split(/[\r\n]/)[0] ?? "";
        return fail(`Unexpected ${shown} after the closing quote. A quote inside a quoted value is written twice.`);
      }
      cells.push(value);
    } else {
      for (let c = text.charCodeAt(i); i < text.length && c !== separator && c !== LF && c !== CR; c = text.charCodeAt(i)) i += 1;
      let end = i;
      while (end > at && blank(text.charCodeAt(end - 1))) end -= 1;
      let begin = at;
      while (begin < end && blank(text.charCodeAt(begin))) begin += 1;
      cells.push(text.slice(begin, end));
    }
    if (i >= text.length) return final ? { cells, next: i, lines, fault: null } : null;
    if (text.charCodeAt(i) === separator) {
      at = i + 1;
      continue;
    }
    const next = findLineEnd(text, i, final);
    return next === null ? null : { cells, next, lines: lines + 1, fault: null };
  }
}

function isBlank({ cells, fault }: ScannedRecord): boolean {
  return fault === null && cells.every((cell) => cell === "");
}
