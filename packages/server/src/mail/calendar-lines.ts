/** The longest line of a calendar, in bytes without its end (RFC 5545, 3.1). */
const LINE_BYTES = 75;

/**
 * A calendar as mail programs read it: in UTF-8, lines end with CRLF, none is empty, and longer ones are folded between characters.
 * Unfolded, each line is as it was.
 */
export function formatCalendar(text: string): string {
  const lines = text
    .replace(/^\uFEFF?\s*/, "")
    .trimEnd()
    .split(/\r\n|\r|\n/)
    .filter((line) => line !== "");
  return lines.map((line) => `${foldLine(line)}\r\n`).join("");
}

function foldLine(line: string): string {
  if (Buffer.byteLength(line) <= LINE_BYTES) return line;
  let folded = "";
  let bytes = 0;
  for (const character of line) {
    const size = Buffer.byteLength(character);
    if (bytes + size > LINE_BYTES) {
      folded += "\r\n ";
      bytes = 1;
    }
    folded += character;
    bytes += size;
  }
  return folded;
}
