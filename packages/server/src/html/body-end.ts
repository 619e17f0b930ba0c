import { BROWSER, type Dialect, locateTags } from "./tokenizer.ts";

/** How mail programs read HTML. Outlook also shows what stands in conditional comments. */
export const MAIL: Dialect = { raw: BROWSER.raw, conditionalComments: true };

/** The position behind the last content of an HTML mail: before `</body>`, else before `</html>`, else the end. */
export function findBodyEnd(html: string): number {
  let end = html.length;
  for (const { token, start } of locateTags(html, MAIL))
    if (token.kind === "close" && (token.name === "body" || (token.name === "html" && end === html.length))) end = start;
  return end;
}
