import { type Host, isInteractive, type Out } from "./host.ts";

/** Paints text; each is the identity where colour is off. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

export function styleOf(on: boolean): Style {
  return {
    bold: paint(on, 1, 22),
    dim: paint(on, 2, 22),
    red: paint(on, 31, 39),
    green: paint(on, 32, 39),
    yellow: paint(on, 33, 39),
    cyan: paint(on, 36, 39),
  };
}

/** Whether a stream gets colour: NO_COLOR off, FORCE_COLOR on, else where a capable terminal reads it. */
export function hasColor(env: Host["env"], stream: Out): boolean {
  if (env["NO_COLOR"]) return false;
  const force = env["FORCE_COLOR"];
  if (force !== undefined) return force !== "0" && force !== "false";
  return stream.isTTY === true && env["TERM"] !== "dumb";
}

/** What is known of the terminal, or of the pipe that stands in its place. */
export interface Terminal {
  readonly out: Style;
  readonly err: Style;
  /** Columns of stdout, 80 where nobody says. */
  readonly columns: number;
  readonly stdoutTTY: boolean;
  readonly stderrTTY: boolean;
  /** Whether questions may be asked. */
  readonly interactive: boolean;
}

export function terminalOf(host: Host): Terminal {
  return {
    out: styleOf(hasColor(host.env, host.stdout)),
    err: styleOf(hasColor(host.env, host.stderr)),
    columns: host.stdout.columns ?? (Number(host.env["COLUMNS"]) || 80),
    stdoutTTY: host.stdout.isTTY === true,
    stderrTTY: host.stderr.isTTY === true,
    interactive: isInteractive(host),
  };
}

const WIDE =
  /^(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}])/u;
// Made when first needed: 10 ms that plain words do not ask for.
let segmenter: Intl.Segmenter | undefined;
// biome-ignore lint/suspicious/noControlCharactersInRegex: our own colours
const COLORS = /\u001b\[[0-9;]*m/g;

/** Columns a text takes; colours count nothing, East Asian and emoji characters two. */
export function widthOf(text: string): number {
  const plain = text.replace(COLORS, "");
  if (/^[\x20-\x7e]*$/.test(plain)) return plain.length;
  let width = 0;
  for (const { segment } of graphemes(plain)) width += WIDE.test(segment) ? 2 : /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]/u.test(segment) ? 0 : 1;
  return width;
}

/** A plain text cut to `width` columns, the cut shown as `…`. */
export function fit(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let used = 0;
  let kept = "";
  for (const { segment } of graphemes(text)) {
    const w = widthOf(segment);
    if (used + w > width - 1) break;
    used += w;
    kept += segment;
  }
  return `${kept}…`;
}

function paint(on: boolean, open: number, close: number) {
  return (text: string): string => (on && text !== "" ? `\u001b[${open}m${text}\u001b[${close}m` : text);
}

function graphemes(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return segmenter.segment(text);
}
