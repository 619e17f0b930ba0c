// Draws a recording as an SVG that moves by its own style sheet: no script, no font, no other file. With reduced motion, it shows the
// end.
import { readFileSync } from "node:fs";
import { COLUMNS, ROWS, Screen, textOf } from "./screen.mjs";

const [CHARACTER, LINE, FONT] = [8, 18, 13.2];
const [SIDE, TOP, BOTTOM] = [18, 40, 14];
const WIDTH = COLUMNS * CHARACTER + 2 * SIDE;
const HEIGHT = ROWS * LINE + TOP + BOTTOM;

// Seconds: how fast is typed, how long the eye rests before a command and after it, also for each of its lines, and how long the end stays.
const PER_CHARACTER = 0.014;
const [BEFORE, AFTER, PER_LINE, END] = [0.3, 0.6, 0.06, 6];
// A longer wait is that of a busy machine that records, and is shortened.
const LONGEST_WAIT = 0.3;

const PROMPT = "$ ";
const TITLE = "A terminal: an email to a full mailbox is sent, the clock is advanced by three days, and the email has been tried ten times";

/** The SVG of recorded commands. */
export function drawRecording(recorded) {
  const { versions, scrolls, typed, duration, lines } = toTimeline(recorded);
  const style = new Style(duration);
  const rows = versions.map(({ row, runs, from, until }) => {
    const visible = until === null ? style.appear(from) : style.pass(from, until);
    return `<g class="${visible}">${runs.map((run) => drawRun(run, row)).join("")}</g>`;
  });
  const covers = typed.map((one) => {
    const [x, y] = [(PROMPT.length - 0.1) * CHARACTER, one.row * LINE];
    const cover = `<path class="card" d="M0 0h${one.length * CHARACTER + 9}v${LINE}H0z"/><path class="cursor" d="M1 2h${CHARACTER}v14H1z"/>`;
    return `<g transform="translate(${round(x)} ${y})"><g class="gone ${style.type(one)}">${cover}</g></g>`;
  });
  const last = lines.length - 1;
  const cursor = `<path class="cursor ${style.appear(duration - END)}" d="M${PROMPT.length * CHARACTER} ${last * LINE + 2}h${CHARACTER}v14h-${CHARACTER}z"/>`;
  const final = scrolls.at(-1)?.offset ?? 0;
  const scroll = style.scroll(scrolls);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img">
<title>${escapeText(TITLE)}</title>
<desc>${escapeText(lines.join("\n"))}</desc>
<style>
${readColors()}
${style.text(final)}
</style>
<rect class="card edge" x=".5" y=".5" width="${WIDTH - 1}" height="${HEIGHT - 1}" rx="8"/>
<g class="dots"><circle cx="20" cy="18" r="5"/><circle cx="37" cy="18" r="5"/><circle cx="54" cy="18" r="5"/></g>
<svg x="${SIDE}" y="${TOP}" width="${WIDTH - 2 * SIDE}" height="${ROWS * LINE}"><g class="${scroll}">
${[...rows, ...covers, cursor].join("\n")}
</g></svg>
</svg>
`;
}

/** The text of recorded commands, as a terminal has it at the end. */
export function transcriptOf(recorded) {
  return toTimeline(recorded).lines;
}

/**
 * Says when each line is as it is: typed commands take their time, output comes as it came. A version of a line is seen from a second until
 * another one, or until null, the end.
 */
function toTimeline(recorded) {
  const screen = new Screen();
  const versions = [];
  const scrolls = [];
  const typed = [];
  let shown = [];
  let now = 0;
  const look = () => {
    const lines = screen.read();
    for (const [row, runs] of lines.entries()) {
      const text = JSON.stringify(runs);
      if (text === JSON.stringify(shown[row] ?? [])) continue;
      const before = versions.findLast((version) => version.row === row);
      if (before) before.until = now;
      versions.push({ row, runs, from: now, until: null });
    }
    shown = lines;
    const offset = Math.max(0, lines.length - ROWS);
    if (offset !== (scrolls.at(-1)?.offset ?? 0)) scrolls.push({ at: now, offset });
  };
  for (const { typed: command, pieces } of recorded) {
    screen.write(`${ESCAPED.prompt}${PROMPT}${ESCAPED.end}${command}`);
    look();
    const from = now + BEFORE;
    const until = from + command.length * PER_CHARACTER;
    typed.push({ row: shown.length - 1, length: command.length, begin: now, from, until });
    screen.write("\r\n");
    const before = shown.length;
    now = until;
    for (const { wait, text } of pieces) {
      now += Math.min(wait, LONGEST_WAIT);
      screen.write(text);
      look();
    }
    now += AFTER + (shown.length - before) * PER_LINE;
  }
  screen.write(`${ESCAPED.prompt}${PROMPT}${ESCAPED.end}`);
  look();
  return { versions, scrolls, typed, duration: now + END, lines: shown.map(textOf) };
}

const ESCAPED = { prompt: "\u001b[36m", end: "\u001b[39m" };

/** The style sheet. Everything moves once in a common duration, then again. */
class Style {
  #duration;
  #names = new Map();

  constructor(duration) {
    this.#duration = duration;
  }

  /** The class of what is seen from a second on. */
  appear(from) {
    return this.#add("a", from === 0 ? "" : `0%{visibility:hidden}${this.#percent(from)}{visibility:visible}`);
  }

  /** The class of what is seen between two seconds. */
  pass(from, until) {
    const begin = from === 0 ? "" : "0%{visibility:hidden}";
    return `gone ${this.#add("p", `${begin}${this.#percent(from)}{visibility:visible}${this.#percent(until)}{visibility:hidden}to{visibility:hidden}`)}`;
  }

  /** The class of what covers a command until it is typed. */
  type({ begin, from, until, length }) {
    const moved = `transform:translateX(${length * CHARACTER}px)`;
    return this.#add(
      "t",
      `0%{visibility:hidden}${this.#percent(begin)}{visibility:visible;transform:none}` +
        `${this.#percent(from)}{visibility:visible;transform:none;animation-timing-function:steps(${length})}` +
        `${this.#percent(until)}{visibility:visible;${moved}}${this.#percent(until + 0.15)}{visibility:hidden;${moved}}to{visibility:hidden}`,
    );
  }

  /** The class of the text, which moves up line by line. */
  scroll(scrolls) {
    return `all ${this.#add("s", `0%{transform:none}${scrolls.map(({ at, offset }) => `${this.#percent(at)}{transform:translateY(${-offset * LINE}px)}`).join("")}`)}`;
  }

  /** @param final how many lines the text has moved up at the end */
  text(final) {
    const moves = [...this.#names].map(([frames, name]) => `.${name}{animation-name:${name}}@keyframes ${name}{${frames}}`);
    return `text{font:${FONT}px ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;fill:var(--ink)}
.card{fill:var(--card)}.edge{stroke:var(--line)}.dots{fill:var(--line)}.cursor{fill:var(--soft)}.bold{font-weight:600}.gone{visibility:hidden}
.soft{fill:var(--soft)}.good{fill:var(--good)}.bad{fill:var(--bad)}.warn{fill:var(--warn)}.busy{fill:var(--busy)}.accent{fill:var(--accent)}
.all{transform:translateY(${-final * LINE}px)}
@media (prefers-reduced-motion:no-preference){
g,path{animation:${round(this.#duration)}s step-end infinite}
${moves.join("\n")}
}`;
  }

  #add(letter, frames) {
    if (frames === "") return "";
    const name = this.#names.get(frames) ?? `${letter}${this.#names.size}`;
    this.#names.set(frames, name);
    return name;
  }

  #percent(seconds) {
    return `${round((seconds / this.#duration) * 100)}%`;
  }
}

/** A run keeps its place and its width in every font. */
function drawRun({ column, text, color, bold }, row) {
  const look = [color, bold && "bold"].filter(Boolean).join(" ");
  const width = [...text].length * CHARACTER;
  const place = `x="${column * CHARACTER}" y="${row * LINE + 13}" textLength="${width}" lengthAdjust="spacingAndGlyphs"`;
  return `<text ${place}${look && ` class="${look}"`}>${escapeText(text)}</text>`;
}

/** The colors of the dashboard, light and dark. */
function readColors() {
  const tokens = readFileSync(new URL("../../packages/dashboard/src/style/tokens.css", import.meta.url), "utf8");
  const [light, dark] = tokens.split("@media (prefers-color-scheme: dark)");
  const pick = (text) =>
    ["card", "ink", "soft", "line", "accent", "good", "busy", "warn", "bad"].map((name) => {
      const value = new RegExp(`--${name}: (#\\w+);`).exec(text ?? "")?.[1];
      if (value === undefined) throw new Error(`tokens.css has no color --${name}.`);
      return `--${name}:${value}`;
    });
  return `:root{${pick(light).join(";")}}
@media (prefers-color-scheme:dark){:root{${pick(dark).join(";")}}}`;
}

const round = (number) => Math.round(number * 1000) / 1000;
const escapeText = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
