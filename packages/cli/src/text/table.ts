import type { Style } from "../types.ts";
import { safeText } from "./safe-text.ts";
import { measureWidth, truncate } from "./width.ts";

/** One column of a table. */
export interface Column<Row> {
  title: string;
  value(row: Row): unknown;
  /** May be narrowed when the terminal is narrow; other columns keep their width. */
  flexible?: boolean;
  /** Dropped when the terminal is narrow, the highest number first; columns without a number are always shown. */
  priority?: number;
  paint?(style: Style, text: string, row: Row): string;
}

const GAP = 2;
const MIN_FLEXIBLE = 8;
// A flexible column narrower than this is hard to read, so optional columns are dropped first.
const COMFORTABLE_FLEXIBLE = 16;

/** A column with its formatted cells. */
interface LaidOutColumn<Row> {
  column: Column<Row>;
  cells: readonly string[];
  width: number;
  /** Right-aligned, for numbers. */
  right: boolean;
}

/** Renders a table: dim header, aligned columns, cut to `width`. Makes all cells safe. */
export function renderTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[], style: Style, width: number): string {
  const kept = dropUntilFit(
    dropColumns(
      columns.map((column) => layOut(rows, column)),
      width,
    ),
    width,
  );
  const widths = shrinkColumns(
    kept.map((one) => one.width),
    kept.map(({ column }) => column.flexible === true),
    width,
  );
  const line = (texts: readonly string[], paint: (text: string, i: number) => string): string =>
    texts
      .map((text, i) => {
        const shown = truncate(text, widths[i] ?? 0);
        const pad = " ".repeat(Math.max(0, (widths[i] ?? 0) - measureWidth(shown)));
        return kept[i]?.right ? pad + paint(shown, i) : paint(shown, i) + (i === texts.length - 1 ? "" : pad);
      })
      .join(" ".repeat(GAP));
  const head = line(
    kept.map(({ column }) => column.title.toUpperCase()),
    (text) => style.dim(text),
  );
  const body = rows.map((row, n) =>
    line(
      kept.map(({ cells }) => cells[n] ?? ""),
      (text, i) => kept[i]?.column.paint?.(style, text, row) ?? text,
    ),
  );
  return [head, ...body].join("\n");
}

/** Wraps long lines of a text, which must already be safe. */
export function wrapText(text: string, columns: number): string {
  return text
    .split("\n")
    .flatMap((line) => (measureWidth(line) <= columns ? [line] : wrapLine(line, columns)))
    .join("\n");
}

/** Renders one name and value per line; values longer than `columns` continue below their start. */
export function renderDetails(
  entries: readonly (readonly [name: string, value: unknown])[],
  style: Style,
  columns: number = Number.POSITIVE_INFINITY,
): string {
  const shown = entries.filter(([, value]) => value !== null && value !== undefined && value !== "");
  const width = Math.max(0, ...shown.map(([name]) => measureWidth(name)));
  return shown
    .map(([name, value]) => {
      const room = Math.max(20, columns - width - GAP);
      const text = formatCell(value);
      const lines = measureWidth(text) <= room ? [text] : wrapLine(text, room);
      return `${style.dim(name.padEnd(width))}  ${lines.join(`\n${" ".repeat(width + GAP)}`)}`;
    })
    .join("\n");
}

function formatCell(value: unknown): string {
  if (value === null || value === undefined || value === "") return "–";
  return safeText(typeof value === "object" ? JSON.stringify(value) : String(value));
}

// Narrows the widest flexible column, one character at a time, until the table fits.
function shrinkColumns(widths: number[], flexible: readonly boolean[], columns: number): number[] {
  const fitted = [...widths];
  const total = (): number => fitted.reduce((sum, w) => sum + w, 0) + GAP * (fitted.length - 1);
  while (total() > columns) {
    let widest = -1;
    fitted.forEach((w, i) => {
      if (flexible[i] && w > MIN_FLEXIBLE && (widest < 0 || w > (fitted[widest] ?? 0))) widest = i;
    });
    if (widest < 0) break;
    fitted[widest] = (fitted[widest] ?? 0) - 1;
  }
  return fitted;
}

function layOut<Row>(rows: readonly Row[], column: Column<Row>): LaidOutColumn<Row> {
  const values = rows.map((row) => column.value(row));
  const cells = values.map(formatCell);
  const present = values.filter((value) => value !== null && value !== undefined && value !== "");
  return {
    column,
    cells,
    width: Math.max(measureWidth(column.title), ...cells.map(measureWidth)),
    right: present.length > 0 && present.every((value) => typeof value === "number"),
  };
}

// Drops optional columns until the others are comfortable to read.
function dropColumns<Row>(all: readonly LaidOutColumn<Row>[], columns: number): LaidOutColumn<Row>[] {
  const kept = [...all];
  const needed = (): number =>
    kept.reduce((sum, { column, width }) => sum + GAP + (column.flexible ? Math.min(width, COMFORTABLE_FLEXIBLE) : width), -GAP);
  while (needed() > columns) {
    const least = Math.max(...kept.map(({ column }) => column.priority ?? 0));
    if (least === 0) break;
    kept.splice(
      kept.findLastIndex(({ column }) => column.priority === least),
      1,
    );
  }
  return kept;
}

// Drops the last columns that can be narrowed, then the last ones, until the others fit. The first column, the id, stays whole.
function dropUntilFit<Row>(all: readonly LaidOutColumn<Row>[], columns: number): LaidOutColumn<Row>[] {
  const kept = [...all];
  const needed = (): number =>
    kept.reduce((sum, { column, width }) => sum + GAP + (column.flexible ? Math.min(width, MIN_FLEXIBLE) : width), -GAP);
  while (kept.length > 1 && needed() > columns) {
    const flexible = kept.findLastIndex(({ column }, i) => i > 0 && column.flexible === true);
    kept.splice(flexible > 0 ? flexible : -1, 1);
  }
  return kept;
}

/** Breaks a line between words; longer words keep their length. */
function wrapLine(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && measureWidth(last) + 1 + measureWidth(word) <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
