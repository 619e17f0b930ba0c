import { MAIL } from "./body-end.ts";
import { locateTags } from "./tokenizer.ts";

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
