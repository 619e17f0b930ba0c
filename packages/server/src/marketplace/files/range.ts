/** A piece of a file: its first and its last byte, from 0. */
export interface Range {
  readonly first: number;
  readonly last: number;
}

/**
 * The one piece a Range header asks for (RFC 9110, 14.2); null for the whole file, also where the header is none we know or
 * asks for several pieces at once, which we may answer with the whole.
 */
export function parseRange(header: string | null, size: number): Range | "unsatisfiable" | null {
  const match = /^bytes\s*=\s*(\d{0,30})-(\d{0,30})$/i.exec(header?.trim() ?? "");
  if (!match) return null;
  const [, from = "", to = ""] = match;
  if (from === "" && to === "") return null;
  if (from === "") return Number(to) === 0 || size === 0 ? "unsatisfiable" : { first: Math.max(0, size - Number(to)), last: size - 1 };
  const first = Number(from);
  if (to !== "" && Number(to) < first) return null;
  if (first >= size) return "unsatisfiable";
  return { first, last: to === "" ? size - 1 : Math.min(Number(to), size - 1) };
}
