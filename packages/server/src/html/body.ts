import { forEachInTurns } from "../lib/turn.ts";
import { BROWSER, type Dialect, type LocatedTag, locateTags } from "./tokenizer.ts";

/** HTML as mail programs read it. Outlook also shows the content of conditional comments. */
export const MAIL: Dialect = { raw: BROWSER.raw, conditionalComments: true };

// Without one of these, nothing but a tag can be left open at the end.
const MAY_STAY_OPEN = new RegExp(`<(?:[!?]|/(?:body|html|[^a-z])|plaintext|${[...BROWSER.raw].join("|")})`, "i");

// Markup between tags: a whole comment, another declaration, or the begin of something that never ends.
const BETWEEN_TAGS = /<!--(?:-?>|[\s\S]*?--!?>)|<(?:[?/]|!(?!--))[^>]*>|<(?=[a-z!?/])/gi;

/**
 * Finds the position behind the last content of an HTML mail: before `</body>`, else before `</html>`, else the end. Anything that never
 * ends, such as a comment or a style, is no content: text put there would not be seen.
 */
export async function findBodyEnd(html: string): Promise<number> {
  // The content of many a mail is a fragment.
  if (!MAY_STAY_OPEN.test(html) && html.lastIndexOf("<") <= html.lastIndexOf(">")) return html.length;
  let end: number | null = null;
  let last: LocatedTag | null = null;
  // As programs besides Outlook read it: they do not see what is in a conditional comment.
  await forEachInTurns(locateTags(html, BROWSER), (tag) => {
    const { token, start } = tag;
    last = tag;
    if (token.kind === "close" && (token.name === "body" || (token.name === "html" && end === null))) end = start;
  });
  return end ?? findOpenEnd(html, last);
}

/** Finds the begin of a construct that never ends, from the last whole tag on; the length of the source if all of them end. */
function findOpenEnd(html: string, last: LocatedTag | null): number {
  if (last?.token.kind === "open" && (BROWSER.raw.has(last.token.name) || last.token.name === "plaintext")) return last.start;
  const rest = html.slice(last?.end ?? 0);
  const open = [...rest.matchAll(BETWEEN_TAGS)].find(([found]) => found === "<");
  return html.length - rest.length + (open?.index ?? rest.length);
}

/**
 * The positions before the first content of an HTML mail: behind its `<body>`, and behind those that only Outlook reads, in conditional
 * comments. Without one, behind its head, else at the beginning.
 */
export function findBodyStarts(html: string): number[] {
  const tags = [...locateTags(html)];
  const body = tags.find(({ token }) => token.kind === "open" && token.name === "body");
  const head = tags.find(({ token }) => token.kind === "close" && token.name === "head");
  const root = tags.find(({ token }) => token.kind === "open" && token.name === "html");
  const doctype = /^\s*<!doctype[^>]*>/i.exec(html)?.[0].length ?? 0;
  const seen = new Set(tags.map(({ start }) => start));
  const ofOutlook = [...locateTags(html, MAIL)].flatMap(({ token, start, end }) =>
    token.kind === "open" && token.name === "body" && !seen.has(start) ? end : [],
  );
  return [(body ?? head ?? root)?.end ?? doctype, ...ofOutlook].sort((a, b) => a - b);
}
