import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Contact, CustomFields, TagName } from "@mailsvc/sdk/contract";
import { createWorld } from "@mailsvc/server/testing";
import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { expect, test } from "vitest";
import { cli, folder } from "./harness.ts";

const wicked = fc.stringMatching(/^['=+\-@;,"|\t {}[\]\\a1]{0,10}$/);
// Characters of a name: no line breaks of any kind, and no half of a character, which cutting at a length can leave.
const line = (maxLength: number) =>
  fc
    .oneof(fc.string({ unit: "grapheme", maxLength }), wicked)
    .map((s) => s.slice(0, maxLength).replace(/[\p{Cc}\p{Cs}\u2028\u2029]/gu, ""));
const text = fc
  .oneof(fc.string({ unit: "grapheme" }), wicked, fc.stringMatching(/^[\r\n\t"'=,; a]{0,8}$/))
  .map((s) => s.replaceAll("\0", ""));
const key = fc.oneof(line(20), fc.constantFrom("a.b", "custom.x", "email", "toString", " plan ")).filter((s) => s !== "");
// Integers that are not exact are refused.
const value = fc.jsonValue({ maxDepth: 2, stringUnit: "grapheme" }).filter((json) => !/\d{16}/.test(JSON.stringify(json)));

const contact = fc.record(
  {
    local: fc.constantFrom("ada", "=ada", "+ada", "-ada", "'=ada", "ädä"),
    firstName: line(60),
    lastName: line(60),
    phone: fc.oneof(line(20), fc.constant("+44 20 7946 0000")),
    tags: fc.array(
      line(30).filter((tag) => TagName.safeParse(tag).success),
      { maxLength: 4 },
    ),
    customFields: fc.dictionary(key, value, { maxKeys: 4 }).filter((fields) => CustomFields.safeParse(fields).success),
    status: fc.constantFrom("SUBSCRIBED", "UNSUBSCRIBED"),
  },
  { requiredKeys: ["local"] },
);

const own = ({ email, firstName, lastName, phone, tags, customFields, status }: Contact) => ({
  email,
  firstName,
  lastName,
  phone,
  tags,
  customFields,
  status,
});

const importInto = async (world: Awaited<ReturnType<typeof createWorld>>, rows: object[]): Promise<void> => {
  if (rows.length === 0) return;
  const answer = await world.fetch(`${world.url}/api/v1/contacts/import`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${world.apiKey}` },
    body: JSON.stringify({ rows }),
  });
  expect(await answer.json()).toMatchObject({ created: rows.length, failed: 0 });
};

/** Exports the contacts of one workspace, imports the file into an empty one, and answers both. */
const roundTrip = async (rows: object[], file: string, flags: string[], importFlags: string[] = []) => {
  await using there = await createWorld();
  await using here = await createWorld();
  await importInto(there, rows);
  const cwd = folder();
  const at = (world: typeof there) => ({ cwd, fetch: world.fetch, env: { MAILSVC_URL: world.url, MAILSVC_API_KEY: world.apiKey } });
  const all = async (world: typeof there): Promise<Contact[]> => (await cli(["contacts", "list", "--all"], at(world))).lines;
  const exported = await cli(["contacts", "export", "--output", file, ...flags], at(there));
  expect(exported.code, exported.stderr).toBe(0);
  const before = await all(there);
  expect(exported.json.contacts).toBe(before.length);
  const imported = await cli(["contacts", "import", file, "--no-tag", ...importFlags], at(here));
  expect(imported.code, imported.stderr).toBe(before.length === 0 ? 3 : 0);
  return { before: before.map(own), after: (await all(here)).map(own).reverse(), content: readFileSync(join(cwd, file), "utf8") };
};

const rowsOf = (contacts: { local: string }[]): object[] =>
  contacts.map(({ local, ...rest }, i) => ({ email: `${local}${i}@example.com`, ...rest }));

test.each([
  ["CSV", "p.csv", []],
  ["CSV with semicolons and a byte order mark", "p.csv", ["--separator", ";", "--bom"]],
  ["tabs", "p.tsv", []],
  ["NDJSON", "p.ndjson", []],
])("contacts exported as %s and imported elsewhere are the same", async (_name, file, flags) => {
  await fc.assert(
    fc.asyncProperty(fc.array(contact, { maxLength: 12 }), async (contacts) => {
      const { before, after, content } = await roundTrip(rowsOf(contacts), file, flags);
      expect(after).toEqual(before);
      if (file === "p.csv" && flags.length === 0)
        for (const cell of (parse(content) as string[][]).flat()) expect(cell).not.toMatch(/^[=+\-@\t\r\n]/);
    }),
    { numRuns: 12 },
  );
});

test("custom texts in their own columns come back the same", async () => {
  const texts = fc
    .dictionary(
      key,
      text.filter((s) => s !== ""),
      { maxKeys: 4 },
    )
    .filter((fields) => CustomFields.safeParse(fields).success);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(contact, texts), { minLength: 1, maxLength: 8 }), async (pairs) => {
      const rows = rowsOf(pairs.map(([c, customFields]) => ({ ...c, customFields })));
      const { before, after } = await roundTrip(rows, "p.csv", ["--custom-fields", "columns"]);
      expect(after).toEqual(before);
    }),
    { numRuns: 12 },
  );
});

test("custom texts with characters that some take for the end of a line come back the same", async () => {
  const customFields = Object.fromEntries(["\u2028", "\u2029", "\u0085", "\n", "\r\n"].map((end, i) => [`field${i}`, `a${end}b`]));
  const rows = [
    { email: "ada@example.com", customFields },
    { email: "bob@example.com", customFields: { note: "\u2028" } },
  ];
  const { before, after } = await roundTrip(rows, "p.csv", ["--custom-fields", "columns"]);
  expect(after).toEqual(before);
});

test("numbers, true and false in columns come back with --types", async () => {
  const rows = [{ email: "a@example.com", customFields: { seats: 5, rate: -0.5, on: true, off: false, zip: "00123" } }];
  const { before, after } = await roundTrip(rows, "p.csv", ["--custom-fields", "columns"], ["--types", "numbers,booleans"]);
  expect(after).toEqual(before);
});

test("who bounced elsewhere comes in unsubscribed, and as bounced where the suppressions came first", async () => {
  await using world = await createWorld();
  const cwd = folder();
  const setup = { cwd, fetch: world.fetch, env: { MAILSVC_URL: world.url, MAILSVC_API_KEY: world.apiKey } };
  writeFileSync(join(cwd, "p.csv"), "email,status\nada@example.com,BOUNCED\nbob@example.com,BOUNCED\n");
  await cli(["suppressions", "create", "--email", "ada@example.com", "--reason", "bounce"], setup);
  expect((await cli(["contacts", "import", "p.csv"], setup)).json.suppressed).toBe(1);
  const contacts: Contact[] = (await cli(["contacts", "list", "--all"], setup)).lines;
  expect(contacts.map((c) => [c.email, c.status])).toEqual([
    ["bob@example.com", "UNSUBSCRIBED"],
    ["ada@example.com", "BOUNCED"],
  ]);
});
