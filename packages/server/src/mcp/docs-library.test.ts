import { expect, test } from "vitest";
import { readDocFiles } from "./doc-files.ts";
import { DocsLibrary } from "./docs-library.ts";

const library = new DocsLibrary(readDocFiles);

test.each([
  ["how do I test that no mail came", "testing", "That no mail came"],
  ["send with attachment", "emails", "Sending"],
  ["unsubscribe link", "tracking", "Unsubscribing"],
  ["how do I import contacts from csv", "importing", "Importing and exporting contacts"],
  ["what is the rate limit", "self-hosting", "Rate limits"],
  ["double opt-in", "audience", "Double opt-in"],
  ["set up dkim", "self-hosting", "DKIM"],
])("a search for %j finds its section among the first three", (query, page, section) => {
  const found = library.search(query, 3).map(({ uri, section }) => `${uri} ${section}`);
  expect(found).toContain(`mailsvc://docs/${page} ${section}`);
});

test("a search for words that are nowhere finds nothing", () => {
  expect(library.search("xyzzy plugh", 3)).toEqual([]);
});
