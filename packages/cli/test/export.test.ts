import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { folder, TERMINAL } from "./harness.ts";
import { type Beside, startCliWithServer } from "./world.ts";

const ADA = { email: "ada@example.com", firstName: "Ada", phone: "+44 20", tags: ["vip", "a;b"], customFields: { plan: "=1+1", seats: 5 } };
const BOB = { email: "bob@example.com", lastName: 'O"Hara, Bob', status: "UNSUBSCRIBED" };

const filled = async (rows: object[] = [ADA, BOB]): Promise<Beside & { cwd: string }> => {
  const cli = await startCliWithServer();
  const cwd = folder();
  writeFileSync(join(cwd, "rows.ndjson"), rows.map((r) => JSON.stringify(r)).join("\n"));
  expect((await cli.mailsvc(["contacts", "import", "rows.ndjson", "--no-tag"], { cwd })).code).toBe(0);
  return { ...cli, cwd };
};
const lines = (text: string): string[] => text.split("\r\n");
const FACTS = String.raw`con_\w+,\d{4}-[^,]+Z,\d{4}-[^,]+Z`;

describe("CSV", () => {
  test("has its columns always in the same order, and cells no spreadsheet runs", async () => {
    const { mailsvc } = await filled();
    const { code, stdout, stderr } = await mailsvc(["contacts", "export"]);
    expect([code, stderr]).toEqual([0, ""]);
    const [head, bob, ada, end] = lines(stdout);
    expect(head).toBe("email,externalId,firstName,lastName,phone,language,status,tags,customFields,id,createdAt,updatedAt");
    expect(bob).toMatch(new RegExp(`^bob@example.com,,,"O""Hara, Bob",,,UNSUBSCRIBED,,,${FACTS}$`));
    expect(ada).toMatch(
      new RegExp(`^ada@example.com,,Ada,,'\\+44 20,,SUBSCRIBED,"vip; ""a;b""","{""plan"":""=1\\+1"",""seats"":5}",${FACTS}$`),
    );
    expect(end).toBe("");
  });

  test("has a column for each custom field when that is asked for, of all contacts, by name", async () => {
    const { mailsvc } = await filled([ADA, BOB, { email: "c@example.com", customFields: { company: "C", x: { y: [1] } } }]);
    const { stdout } = await mailsvc(["contacts", "export", "--custom-fields", "columns"]);
    const [head, c, bob, ada] = lines(stdout);
    expect(head).toContain("tags,custom.company,custom.plan,custom.seats,custom.x,id");
    expect(c).toContain(',C,,,"{""y"":[1]}",con_');
    expect(bob).toContain("UNSUBSCRIBED,,,,,,con_");
    expect(ada).toContain(",,'=1+1,5,,con_");
  });

  test("with other separators, a byte order mark, and no guard", async () => {
    const { mailsvc } = await filled([ADA]);
    const { stdout } = await mailsvc(["contacts", "export", "--separator", ";", "--bom", "--no-guard"]);
    expect(stdout.startsWith("\ufeffemail;externalId;firstName;")).toBe(true);
    expect(stdout).toContain(";+44 20;");
  });

  test("of nobody has its names, and nothing else", async () => {
    const { mailsvc } = await startCliWithServer();
    expect(lines((await mailsvc(["contacts", "export"])).stdout)).toHaveLength(2);
  });
});

test("NDJSON holds contacts as the API gives them: by --format, by --json, by the file's name", async () => {
  const { mailsvc, cwd } = await filled();
  for (const flags of [["--format", "ndjson"], ["--json"]]) {
    const rows = (await mailsvc(["contacts", "export", ...flags])).lines;
    expect(rows).toMatchObject([{ ...BOB, tags: [] }, ADA]);
    expect(Object.keys(rows[0])).not.toContain("lists");
  }
  const done = await mailsvc(["contacts", "export", "--output", "all.jsonl"], { cwd });
  expect(done.json).toEqual({ file: join(cwd, "all.jsonl"), format: "ndjson", contacts: 2, columns: null });
  expect(readFileSync(join(cwd, "all.jsonl"), "utf8").split("\n")).toHaveLength(3);
});

test("filters leave whom they fit", async () => {
  const { mailsvc } = await filled();
  const emails = async (...flags: string[]) => (await mailsvc(["contacts", "export", "--json", ...flags])).lines.map((c) => c.email);
  expect(await emails("--status", "UNSUBSCRIBED")).toEqual(["bob@example.com"]);
  expect(await emails("--tag", "VIP")).toEqual(["ada@example.com"]);
  expect(await emails("--search", "hara")).toEqual(["bob@example.com"]);
  expect(await emails("--tag", "none")).toEqual([]);
});

test("all contacts come, each once, through as many pages as it takes", async () => {
  const { mailsvc } = await filled(Array.from({ length: 57 }, (_, i) => ({ email: `u${i}@example.com` })));
  const rows = (await mailsvc(["contacts", "export", "--json", "--limit", "10"])).lines;
  expect(rows.map((c) => c.email)).toEqual(Array.from({ length: 57 }, (_, i) => `u${56 - i}@example.com`));
});

describe("a file", () => {
  test("appears when it is whole, for its owner only, and a person is told", async () => {
    const { mailsvc, cwd } = await filled();
    const done = await mailsvc(["contacts", "export", "--output", "all.csv"], { cwd, tty: TERMINAL, env: { NO_COLOR: "1" } });
    expect(done.stdout).toBe(`Exported 2 contacts to ${join(cwd, "all.csv")}\n`);
    expect(statSync(join(cwd, "all.csv")).mode & 0o777).toBe(0o600);
    expect(existsSync(join(cwd, "all.csv.part"))).toBe(false);
  });

  test("stays what it was when the export fails half way", async () => {
    const { mailsvc, world, cwd } = await filled(Array.from({ length: 30 }, (_, i) => ({ email: `u${i}@example.com` })));
    writeFileSync(join(cwd, "all.csv"), "before");
    let pages = 0;
    const fetch: typeof globalThis.fetch = async (url, init) => {
      pages += 1;
      if (pages > 2) throw Object.assign(new TypeError("fetch failed"), { cause: { code: "ENOTFOUND" } });
      return world.fetch(url as string, init);
    };
    for (const flags of [[], ["--custom-fields", "columns"]]) {
      pages = 0;
      const failed = await mailsvc(["contacts", "export", "--output", "all.csv", "--limit", "10", ...flags], { cwd, fetch });
      expect([failed.code, failed.stdout]).toEqual([10, ""]);
      expect(readFileSync(join(cwd, "all.csv"), "utf8")).toBe("before");
      expect(existsSync(join(cwd, "all.csv.part"))).toBe(false);
    }
  });

  test.each([
    [["--output", "no/such/folder/all.csv"], "--output"],
    [["--format", "ndjson", "--custom-fields", "columns"], "--custom-fields columns is only for CSV"],
    [["--separator", "xx"], "--separator"],
    [["--format", "xml"], "--format"],
  ])("%j is refused, exit 2", async (flags, said) => {
    const { mailsvc, cwd } = await filled();
    const failed = await mailsvc(["contacts", "export", ...flags], { cwd });
    expect([failed.code, failed.stdout]).toEqual([2, ""]);
    expect(failed.stderr).toContain(said);
  });
});
