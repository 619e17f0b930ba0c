const WIDE =
  /^(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}])/u;

// Created on first use: it costs 10 ms, and ASCII text does not need it.
let segmenter: Intl.Segmenter | undefined;

// biome-ignore lint/suspicious/noControlCharactersInRegex: our own colours
const COLORS = /\u001b\[[0-9;]*m/g;

/** The number of columns a text takes; colour codes take none, East Asian and emoji characters two. */
export function measureWidth(text: string): number {
  const plain = text.replace(COLORS, "");
  if (/^[\x20-\x7e]*$/.test(plain)) return plain.length;
  let width = 0;
  for (const { segment } of splitGraphemes(plain)) width += WIDE.test(segment) ? 2 : /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]/u.test(segment) ? 0 : 1;
  return width;
}

/** Cuts a plain text to `width` columns, ending in `…`. */
export function truncate(text: string, width: number): string {
  if (measureWidth(text) <= width) return text;
  let used = 0;
  let kept = "";
  for (const { segment } of splitGraphemes(text)) {
    const w = measureWidth(segment);
    if (used + w > width - 1) break;
    used += w;
    kept += segment;
  }
  return `${kept}…`;
}

function splitGraphemes(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return segmenter.segment(text);
}
