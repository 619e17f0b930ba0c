import { safeText } from "../safe-text.ts";
import { fit, type Style, widthOf } from "../tty.ts";

/** One column: what it shows of a row, and how. */
export interface Column<Row> {
  title: string;
  value(row: Row): unknown;
  /** Gives way when the terminal is narrow; the others keep their width. */
  flexible?: boolean;
  paint?(style: Style, text: string): string;
}

const GAP = 2;
const MIN_FLEXIBLE = 8;

const cell = (value: unknown): string => {
  if (value === null || value === undefined || value === "") return "–";
  return safeText(typeof value === "object" ? JSON.stringify(value) : String(value));
};

// What does not fit is taken from the widest flexible column, again and again.
const shrink = (widths: number[], flexible: readonly boolean[], columns: number): number[] => {
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
};

/** A table for people: a dim head, aligned columns, cut to the terminal's width. All cells are made safe. */
export const table = <Row>(rows: readonly Row[], columns: readonly Column<Row>[], style: Style, width: number): string => {
  const cells = rows.map((row) => columns.map((column) => cell(column.value(row))));
  const natural = columns.map((column, i) => Math.max(widthOf(column.title), ...cells.map((line) => widthOf(line[i] ?? ""))));
  const widths = shrink(
    natural,
    columns.map((column) => column.flexible === true),
    width,
  );
  const line = (texts: readonly string[], paint: (text: string, i: number) => string): string =>
    texts
      .map((text, i) => {
        const shown = fit(text, widths[i] ?? 0);
        const pad = i === texts.length - 1 ? "" : " ".repeat(Math.max(0, (widths[i] ?? 0) - widthOf(shown)) + GAP);
        return paint(shown, i) + pad;
      })
      .join("");
  const head = line(
    columns.map((column) => column.title.toUpperCase()),
    (text) => style.dim(text),
  );
  const body = cells.map((texts) => line(texts, (text, i) => columns[i]?.paint?.(style, text) ?? text));
  return [head, ...body].join("\n");
};

/** Words in lines of a width, as far as words are short enough. */
const wrap = (text: string, width: number): string[] => {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && widthOf(last) + 1 + widthOf(word) <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
};

/** Names and values below each other; in a terminal of `columns` a long value goes on under its beginning. */
export const details = (
  entries: readonly (readonly [name: string, value: unknown])[],
  style: Style,
  columns: number = Number.POSITIVE_INFINITY,
): string => {
  const shown = entries.filter(([, value]) => value !== null && value !== undefined && value !== "");
  const width = Math.max(0, ...shown.map(([name]) => widthOf(name)));
  return shown
    .map(([name, value]) => {
      const room = Math.max(20, columns - width - GAP);
      const text = cell(value);
      const lines = widthOf(text) <= room ? [text] : wrap(text, room);
      return `${style.dim(name.padEnd(width))}  ${lines.join(`\n${" ".repeat(width + GAP)}`)}`;
    })
    .join("\n");
};
