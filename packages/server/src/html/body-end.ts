import { forEachInTurns } from "../lib/turn.ts";
import { BROWSER, type Dialect, locateTags } from "./tokenizer.ts";

/** How mail programs read HTML. Outlook also shows what stands in conditional comments. */
export const MAIL: Dialect = { raw: BROWSER.raw, conditionalComments: true };

/** The position behind the last content of an HTML mail: before `</body>`, else before `</html>`, else the end. */
export async function findBodyEnd(html: string): Promise<number> {
  let end = html.length;
  // The content of many a mail has neither.
  if (!/<\/(?:body|html)/i.test(html)) return end;
  await forEachInTurns(locateTags(html, MAIL), ({ token, start }) => {
    if (token.kind === "close" && (token.name === "body" || (token.name === "html" && end === html.length))) end = start;
  });
  return end;
}
