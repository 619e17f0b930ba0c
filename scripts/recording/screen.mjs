// A screen of a terminal that understands what the command line writes: lines, colors, and a line that is written again.

/** Columns of a line. A command of README.md fits into one. */
export const COLUMNS = 112;
/** Lines that are seen at once. */
export const ROWS = 27;

/** Styles set by the codes for colors and weights. */
const STYLES = {
  0: { color: "", bold: false },
  1: { bold: true },
  2: { color: "soft" },
  22: { color: "", bold: false },
  31: { color: "bad" },
  32: { color: "good" },
  33: { color: "warn" },
  34: { color: "accent" },
  35: { color: "accent" },
  36: { color: "busy" },
  39: { color: "" },
};

const ESCAPE = String.fromCharCode(27);
const TOKEN = new RegExp(`${ESCAPE}\\[([\\d;?]*)([A-Za-z])|\\r|\\n|[^\\r\\n${ESCAPE}]+|[^]`, "gu");

/** A screen with all lines ever written, of which a terminal would show the last ones. */
export class Screen {
  /** The lines; each is a list of cells. */
  #lines = [[]];
  #column = 0;
  #style = STYLES[0];

  /** Writes what a program writes. Throws at a code that this screen does not know. */
  write(text) {
    for (const [token, values, letter] of text.matchAll(TOKEN)) {
      if (letter === "m") for (const code of (values || "0").split(";")) this.#setStyle(code);
      else if (letter === "K") this.#erase(values);
      else if (letter === "G") this.#column = Number(values || 1) - 1;
      else if (letter === "h" || letter === "l") assertCursor(token);
      else if (token === "\r") this.#column = 0;
      else if (token === "\n") this.#lines.push([]);
      else if (token.startsWith(ESCAPE)) throw new Error(`The recording cannot show the code ${JSON.stringify(token)}.`);
      else this.#put(token);
    }
  }

  /** The lines as runs of characters that look alike, each with its column. */
  read() {
    return this.#lines.map(toRuns);
  }

  #setStyle(code) {
    const change = STYLES[code];
    if (change === undefined) throw new Error(`The recording cannot show the color ${code}.`);
    this.#style = { ...this.#style, ...change };
  }

  #erase(values) {
    const line = this.#lines.at(-1);
    if (values === "2") line.length = 0;
    else if (values === "" || values === "0") line.length = Math.min(line.length, this.#column);
    else throw new Error(`The recording cannot erase by ${values}.`);
  }

  #put(text) {
    const line = this.#lines.at(-1);
    for (const character of text) {
      if (this.#column === COLUMNS) throw new Error(`A line is longer than ${COLUMNS} columns: ${text}`);
      while (line.length < this.#column) line.push({ character: " ", ...STYLES[0] });
      line[this.#column] = { character, ...this.#style };
      this.#column += 1;
    }
  }
}

/** Codes that show and hide the cursor change nothing here. */
function assertCursor(token) {
  if (!token.includes("?25")) throw new Error(`The recording cannot show the code ${JSON.stringify(token)}.`);
}

/** Joins cells that look alike. Two spaces and more end a run, so that what follows keeps its column in every font. */
function toRuns(cells) {
  const runs = [];
  for (const [column, { character, color, bold }] of cells.entries()) {
    const last = runs.at(-1);
    if (last && last.color === color && last.bold === bold && !(character === " " && last.text.endsWith(" "))) last.text += character;
    else runs.push({ column, text: character, color, bold });
  }
  return runs
    .map((run) => ({ ...run, text: run.text.trimEnd() }))
    .filter(({ text }) => text.trim() !== "")
    .map(withoutIndent);
}

function withoutIndent(run) {
  const text = run.text.trimStart();
  return { ...run, text, column: run.column + run.text.length - text.length };
}

/** The text of a line. */
export function textOf(runs) {
  return runs.reduce((line, { column, text }) => line.padEnd(column) + text, "");
}
