// Control sequences that a terminal executes. They are removed whole, so that no printable remainder is left:
// OSC, DCS, SOS, PM and APC strings up to their end, CSI sequences, two-character escapes.
const SEQUENCES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern must match control characters
  /(?:\x1b[\]P^_X]|[\x9d\x90\x9e\x9f\x98])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|$)|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|\x1b[ -/]*[0-~]?/g;
const CONTROLS = /[^\P{Cc}\n\t]/gu;
// Characters that reorder, hide or fake text: bidi overrides and isolates, line separators, zero-width space, tag characters.
const INVISIBLE = /[\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** Makes remote text safe for a terminal; keeps line breaks and tabs. */
export function safeLines(text: string): string {
  return text.toWellFormed().replaceAll("\r\n", "\n").replace(SEQUENCES, "").replace(CONTROLS, "").replace(INVISIBLE, "");
}

/** Makes remote text safe for one line of a terminal. */
export function safeText(text: string): string {
  return safeLines(text).replace(/[\n\t]+/g, " ");
}

/** Serializes a value as JSON with such characters as `\u` escapes: the same value, safe on a terminal. */
export function safeJson(value: unknown, indent = 0): string {
  return (JSON.stringify(value, null, indent) ?? "null").replace(/[\u007f-\u009f]/g, escaped).replace(INVISIBLE, escaped);
}

function escaped(c: string): string {
  return [...c].flatMap((p) => p.split("").map((u) => `\\u${u.charCodeAt(0).toString(16).padStart(4, "0")}`)).join("");
}
