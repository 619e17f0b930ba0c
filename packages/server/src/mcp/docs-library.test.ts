import { expect, test } from "vitest";
import { readDocFiles } from "./doc-files.ts";
import { DocsLibrary } from "./docs-library.ts";

const library = new DocsLibrary(readDocFiles);

const find = (query: string): string[] =>
  library.search(query, 3).map(({ uri, section }) => `${uri.replace("mailsvc://docs/", "")} › ${section}`);

test.each([
  ["how do I test that no mail came", "testing › That no mail came"],
  ["make sure nothing gets sent in a unit test", "testing › That no mail came"],
  ["send with attachment", "emails › Sending"],
  ["how can I send a pdf file along", "emails › Sending"],
  ["unsubscribe link", "tracking › Unsubscribing"],
  ["how do I import contacts from csv", "importing › Importing and exporting contacts"],
  ["what is the rate limit", "self-hosting › Rate limits"],
  ["double opt-in", "audience › Double opt-in"],
  ["set up dkim", "self-hosting › DKIM"],
  ["why did my email not arrive?", "debugging › mailsvc why"],
  ["email never reached the customer, why", "debugging › mailsvc why"],
  ["how do I schedule an email for tomorrow", "emails › Sending"],
  ["check the webhook signature in express", "webhooks › Verifying"],
  ["test webhooks on localhost without ngrok", "listening › Listen"],
  ["docker compose", "recipes/docker › Compose"],
  ["switch from sqlite to postgres", "postgres › Moving to Postgres"],
  ["nightly backup of the database", "recipes/systemd › A backup each night"],
  ["I forgot my API key", "operations › A lost key"],
  ["nodemailer config", "smtp › Settings of frameworks"],
  ["simulate a hard bounce", "emails › Simulated recipients"],
  ["what exit code does it return in a shell script", "cli › Exit codes"],
  ["is it safe to retry a request after a timeout", "emails › Idempotency"],
  ["GDPR: delete everything about one person", "contacts › Data subject requests"],
  ["turn off open tracking", "tracking › Opens and clicks"],
  ["template variables with a default value", "templates › Variables"],
  ["contacts who clicked in the last 30 days", "audience › Segments"],
  ["drip campaign: welcome mail, then wait three days", "automations › A welcome series"],
  ["fast forward time in tests", "testing › Your own code"],
  ["upgrade to a new version", "operations › Upgrades"],
  ["monitoring with prometheus", "self-hosting › Monitoring"],
  ["log in to the dashboard", "people › People"],
  ["what does in doubt mean", "emails › States"],
  ["footer in german", "languages › Your own texts"],
  ["list all emails that bounced", "emails › Finding mail"],
  ["connect claude desktop", "mcp › Development servers"],
  ["gmail puts my mail into spam", "deliverability › Reaching the inbox"],
])("the question %j is answered among the first three sections", (query, section) => {
  expect(find(query)).toContain(section);
});

test("a search for words that are nowhere finds nothing", () => {
  expect(library.search("xyzzy plugh", 3)).toEqual([]);
});

test("a comment in a block of code is no heading", () => {
  const docs = new DocsLibrary(() => new Map([["one", "# One\n\nText.\n\n```sh\n# A comment.\nmailsvc whoami\n```\n"]]));
  expect(docs.search("comment", 3).map(({ section }) => section)).toEqual(["One"]);
});

test("every question of the list leads to a section that is searched", () => {
  const pages = readDocFiles();
  for (const [, question = "", page = ""] of (pages.get("questions") ?? "").matchAll(/^- \[(.+?)\]\(([^)#]+)\.md/gm))
    expect(
      library.search(question, 3).map(({ uri }) => uri),
      question,
    ).toContain(`mailsvc://docs/${page}`);
});
