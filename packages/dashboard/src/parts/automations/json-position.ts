/** Returns the offset of a value in JSON text, such as that of `steps[1].from`; null if the path is missing or the text is not JSON. */
export function locate(text: string, path: string): number | null {
  const wanted = path.replaceAll(/\[(\d+)\]/g, ".$1").split(".");
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  // The nearest part of the path that is there: a field that is missing has no place of its own.
  let found: number | null = null;
  walk(text, skip(text, 0), [], (at, position) => {
    if (at.length <= wanted.length && at.every((part, i) => part === wanted[i])) found = position;
  });
  return found;
}

/** The line of a position, from 1. */
export function lineOf(text: string, position: number): number {
  return text.slice(0, position).split("\n").length;
}

/** Visits the value at a position and those in it, and answers where it ends. The text is JSON. */
function walk(text: string, from: number, path: readonly string[], visit: (path: readonly string[], position: number) => void): number {
  visit(path, from);
  const open = text[from];
  if (open === '"') return endOfString(text, from);
  if (open !== "{" && open !== "[") return endOfWord(text, from);
  let at = skip(text, from + 1);
  for (let index = 0; text[at] !== "}" && text[at] !== "]"; index += 1) {
    let name = String(index);
    if (open === "{") {
      const end = endOfString(text, at);
      name = JSON.parse(text.slice(at, end)) as string;
      at = skip(text, skip(text, end) + 1);
    }
    at = skip(text, walk(text, at, [...path, name], visit));
    if (text[at] === ",") at = skip(text, at + 1);
  }
  return at + 1;
}

function skip(text: string, at: number): number {
  let next = at;
  while (/\s/.test(text[next] ?? "")) next += 1;
  return next;
}

function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

function endOfWord(text: string, from: number): number {
  let at = from;
  while (at < text.length && !/[,\]}\s]/.test(text[at] ?? "")) at += 1;
  return at;
}
