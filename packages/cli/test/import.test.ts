import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { TERMINAL } from "./harness.ts";
import { contacts, counts, people, write } from "./import-files.ts";
import { startCliWithServer } from "./world.ts";

describe("a file", () => {
  test("becomes contacts: names of columns, tags, custom fields, statuses, empty cells", async () => {
    const cli = await startCliWithServer();
    const { cwd } = write(
      "people.csv",
      '\ufeffE-mail ;First Name;SURNAME;Mobile;Tags;Status;Company;custom.plan;id\r\n"ada@example.com";Ada;Lovelace;+44 20;"vip; beta";active;"A;B";pro;x1\r\ngrace@example.com;;;;;cleaned;;;\r\n',
    );
    const done = await cli.mailsvc(["contacts", "import", "people.csv"], { cwd });
    expect(done).toMatchObject({ code: 0, stderr: "" });
    expect(done.json).toMatchObject({ file: "people.csv", complete: true, dryRun: false, errors: [], errorsFile: null, resumeFile: null });
    expect(counts(done.json)).toEqual({ rows: 2, created: 2 });
    expect(done.json.columns.map((c: { field: string | null }) => c.field)).toEqual([
      "email",
      "firstName",
      "lastName",
      "phone",
      "tags",
      "status",
      "custom.Company",
      "custom.plan",
      null,
    ]);
    const [ada, grace] = await contacts(cli);
    expect(ada).toMatchObject({
      email: "ada@example.com",
      firstName: "Ada",
      lastName: "Lovelace",
      phone: "+44 20",
      tags: ["vip", "beta", "import:2026-01-01-1"],
      status: "SUBSCRIBED",
      customFields: { Company: "A;B", plan: "pro" },
    });
    expect(grace).toMatchObject({ email: "grace@example.com", firstName: null, status: "UNSUBSCRIBED", customFields: {} });
    expect(existsSync(join(cwd, "people.csv.import"))).toBe(false);
  });

  test("imported again changes nothing; an empty cell leaves what is there, and --mode skip all of it", async () => {
    const cli = await startCliWithServer();
    const { cwd } = write("people.csv", "email,firstName,tags\nada@example.com,Ada,vip\n");
    const importing = ["contacts", "import", "people.csv", "--no-tag"];
    await cli.mailsvc(importing, { cwd });
    expect(counts((await cli.mailsvc(importing, { cwd })).json)).toEqual({ rows: 1, unchanged: 1 });
    writeFileSync(join(cwd, "people.csv"), "email,firstName,lastName,tags\nADA@example.com,,Lovelace,\n");
    expect(counts((await cli.mailsvc([...importing, "--mode", "skip"], { cwd })).json)).toEqual({
      rows: 1,
      skipped: 1,
    });
    expect((await contacts(cli))[0]?.lastName).toBeNull();
    expect(counts((await cli.mailsvc(importing, { cwd })).json)).toEqual({ rows: 1, updated: 1 });
    expect((await contacts(cli))[0]).toMatchObject({ firstName: "Ada", lastName: "Lovelace", tags: ["vip"] });
  });

  test("imported again after its contacts are gone brings them back", async () => {
    const cli = await startCliWithServer();
    const { cwd } = write("people.csv", people(1));
    await cli.mailsvc(["contacts", "import", "people.csv"], { cwd });
    const [{ id } = { id: "" }] = await contacts(cli);
    await cli.mailsvc(["contacts", "delete", id, "--yes"]);
    expect(counts((await cli.mailsvc(["contacts", "import", "people.csv"], { cwd })).json)).toEqual({ rows: 1, created: 1 });
    expect(await contacts(cli)).toHaveLength(1);
  });

  test("of NDJSON keeps types, takes null for nothing and names for columns", async () => {
    const cli = await startCliWithServer();
    const { cwd } = write(
      "people.ndjson",
      '{"email":"ada@example.com","first_name":"Ada","tags":["a;b"],"seats":5,"customFields":{"vip":true,"x":{"y":[1]}},"id":"con_1"}\n\n{"email":"bob@example.com","firstName":null,"tags":"a, b"}\r\n',
    );
    expect(counts((await cli.mailsvc(["contacts", "import", "people.ndjson", "--no-tag"], { cwd })).json)).toEqual({
      rows: 2,
      created: 2,
    });
    expect(await contacts(cli)).toMatchObject([
      { firstName: "Ada", tags: ["a;b"], customFields: { seats: 5, vip: true, x: { y: [1] } } },
      { firstName: null, tags: ["a", "b"], customFields: {} },
    ]);
  });

  test("comes through a pipe as well", async () => {
    const cli = await startCliWithServer();
    const done = await cli.mailsvc(["contacts", "import", "-"], { stdin: people(3) });
    expect(done.json).toMatchObject({ file: "stdin", rows: 3, created: 3 });
  });

  test("with types where they are asked for, and nowhere else", async () => {
    const cli = await startCliWithServer();
    const { cwd } = write("p.csv", "email,seats,on,zip,since\nada@example.com,5,true,00123,2030-01-31\n");
    const custom = async (...flags: string[]) => {
      expect((await cli.mailsvc(["contacts", "import", "p.csv", ...flags], { cwd })).code).toBe(0);
      return (await contacts(cli))[0]?.customFields;
    };
    expect(await custom()).toEqual({ seats: "5", on: "true", zip: "00123", since: "2030-01-31" });
    expect(await custom("--types", "numbers,booleans")).toEqual({ seats: 5, on: true, zip: "00123", since: "2030-01-31" });
    const failed = await cli.mailsvc(["contacts", "import", "p.csv", "--map", "zip=custom.zip:number"], { cwd });
    expect(failed.json.errors).toEqual([
      { line: 2, column: "zip", field: "customFields.zip", code: "invalid_value", message: '"00123" is not a number such as 12 or 0.5.' },
    ]);
  });

  test("that has no names gets them from --header", async () => {
    const cli = await startCliWithServer();
    const { cwd } = write("p.csv", "Ada;ada@example.com\nBob;bob@example.com\n");
    expect((await cli.mailsvc(["contacts", "import", "p.csv", "--header", "firstName,email"], { cwd })).json.created).toBe(2);
    expect((await contacts(cli)).map((c) => c.firstName)).toEqual(["Ada", "Bob"]);
  });
});

describe("rows that fail", () => {
  const BAD = [
    "email,firstName,tags,Status,custom.plan",
    "ada@example.com,Ada,vip,,pro",
    "nonsense,Bob,,,",
    ",Nobody,,,",
    `x@example.com,${"n".repeat(101)},,,`,
    "y@example.com,,,maybe,",
    "z@example.com,,,,,extra",
    'q@example.com,"open"quote,,,',
    "short@example.com",
    "",
  ].join("\n");

  test("are named with line, column and reason, and spoil no others: exit 11", async () => {
    const cli = await startCliWithServer();
    const { cwd } = write("people.csv", BAD);
    const done = await cli.mailsvc(["contacts", "import", "people.csv"], { cwd });
    expect(done.code).toBe(11);
    expect(counts(done.json)).toEqual({ rows: 8, created: 2, failed: 6 });
    expect(done.stderr.split("\n")).toEqual([
      'line 3, email: "nonsense" has no @.',
      "line 4, email: The address is missing.",
      expect.stringMatching(/^line 5, firstName: .*100/),
      'line 6, Status: "maybe" is not a status. Use SUBSCRIBED or UNSUBSCRIBED.',
      "line 7, column 6: This row has 6 cells, but the header has 5. Quote values that contain the separator.",
      "line 8, firstName: Unexpected quote,,, after the closing quote. A quote inside a quoted value is written twice.",
      "",
    ]);
    expect((await contacts(cli)).map((c) => c.email)).toEqual(["ada@example.com", "short@example.com"]);
  });

  test("are written aside with their reasons, in a file that can be corrected and imported again", async () => {
    const cli = await startCliWithServer();
    const { cwd } = write("people.csv", BAD.replaceAll(",", ";"));
    await cli.mailsvc(["contacts", "import", "people.csv", "--errors-file", "failed.csv"], { cwd });
    const failed = readFileSync(join(cwd, "failed.csv"), "utf8");
    expect(failed.split("\r\n")[0]).toBe("\ufeffemail;firstName;tags;Status;custom.plan;import.line;import.problem");
    expect(failed).toContain('nonsense;Bob;;;;3;"email: ""nonsense"" has no @."');
    expect(failed).toContain("Extra cells: extra");
    const corrected = failed
      .replace("nonsense", "bob@example.com")
      .replace("n".repeat(101), "N")
      .replace("maybe", "no")
      .replace('"""open""quote;;;"', '"open quote"');
    writeFileSync(join(cwd, "failed.csv"), corrected);
    const again = await cli.mailsvc(["contacts", "import", "failed.csv"], { cwd });
    expect(counts(again.json)).toEqual({ rows: 6, created: 5, failed: 1 });
    expect((await contacts(cli)).find((c) => c.email === "q@example.com")?.firstName).toBe("open quote");
    expect((await contacts(cli)).every((c) => Object.keys(c.customFields).every((key) => key === "plan"))).toBe(true);
  });

  test("of NDJSON are written aside as NDJSON", async () => {
    const cli = await startCliWithServer();
    const { cwd } = write(
      "p.ndjson",
      '{"email":"no","n":1}\nnonsense\n[1]\n{"email":"a@example.com"}\n{"email":"b@example.com","firstName":5}\n',
    );
    const done = await cli.mailsvc(["contacts", "import", "p.ndjson", "--errors-file", "f.ndjson"], { cwd });
    expect(counts(done.json)).toEqual({ rows: 5, created: 1, failed: 4 });
    const lines = readFileSync(join(cwd, "f.ndjson"), "utf8")
      .trim()
      .split("\n")
      .map((l) => JSON.parse(l));
    expect(lines).toMatchObject([
      { email: "no", n: 1, "import.line": 1, "import.problem": 'email: "no" has no @.' },
      { "import.text": "nonsense", "import.line": 2 },
      { "import.text": "[1]", "import.line": 3, "import.problem": "A JSON object is needed on each line: { … }." },
      { email: "b@example.com", firstName: 5, "import.problem": "firstName: This must be text, not a number." },
    ]);
  });

  test("all of them: exit 3", async () => {
    const cli = await startCliWithServer();
    const { cwd } = write("p.csv", "email\nno\nneither\n");
    const done = await cli.mailsvc(["contacts", "import", "p.csv"], { cwd });
    expect([done.code, counts(done.json)]).toEqual([3, { rows: 2, failed: 2 }]);
  });

  test("more than --max-errors: stops, says so, and goes on when told to", async () => {
    const cli = await startCliWithServer();
    const { cwd } = write(
      "p.csv",
      `email\n${"no\n".repeat(5)}${people(20)
        .split("\n")
        .slice(1)
        .map((l) => l.split(",")[0])
        .join("\n")}`,
    );
    const flags = ["contacts", "import", "p.csv", "--batch", "5", "--concurrency", "1"];
    const stopped = await cli.mailsvc([...flags, "--max-errors", "4"], { cwd });
    expect([stopped.code, stopped.json.complete, counts(stopped.json)]).toEqual([11, false, { rows: 5, failed: 5 }]);
    expect(stopped.stderr).toContain("More than 4 rows failed.");
    const rest = await cli.mailsvc(flags, { cwd });
    expect([rest.code, counts(rest.json), rest.json.resumedAt]).toEqual([11, { rows: 25, created: 20, failed: 5 }, 5]);
  });

  test("cannot steer the terminal", async () => {
    const { mailsvc } = await startCliWithServer();
    const { cwd } = write("p.csv", "email,\u001b[2JName\n\u001b[2Jno\u0007,x\nok@example.com,y\n");
    const done = await mailsvc(["contacts", "import", "p.csv"], { cwd });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be there
    expect(done.stderr).not.toMatch(/[\u001b\u0007]/);
  });
});

describe("files that cannot be imported", () => {
  const cases: [name: string, file: string, content: string | Uint8Array, code: number, said: string[]][] = [
    [
      "without a column for the address",
      "p.csv",
      "Name,Contact\nAda,nobody\n",
      3,
      ["Line 1: no email column found.", '--map "Name=email"'],
    ],
    ["without names", "p.csv", "ada@example.com,Ada\n", 3, ["Line 1 has an address", "--header"]],
    ["of addresses alone", "p.txt", "ada@example.com\nbea@example.com\n", 3, ["Line 1 has an address", "--header"]],
    ["empty", "p.csv", "", 3, ["p.csv is empty."]],
    ["of a byte order mark alone", "p.csv", "\ufeff\r\n", 3, ["p.csv is empty."]],
    ["of names alone", "p.csv", "email,firstName\r\n", 3, ["p.csv has no rows."]],
    [
      "in Windows-1252",
      "p.csv",
      Buffer.from("email,name\na@example.com,M\xfcller\n", "latin1"),
      3,
      ["p.csv, line 2: this is not UTF-8.", "Müller", "--encoding windows-1252"],
    ],
    ["that are workbooks", "p.xlsx", Uint8Array.from([0x50, 0x4b, 3, 4, 20, 0]), 3, ["p.xlsx is a workbook", "Save it as CSV"]],
    ["that are JSON arrays", "p.json", '[{"email":"a@example.com"}]', 3, ["p.json is a JSON array.", "jq -c"]],
    ["whose names are in disorder", "p.csv", 'email,"first"Name\n', 3, ["Line 1, column 2"]],
    ["that are folders", ".", "", 2, ["it is a directory"]],
    ["that are not there", "nope.csv", "", 2, ["no such file"]],
  ];
  test.each(cases)("%s", async (_name, file, content, code, said) => {
    const cli = await startCliWithServer();
    const { cwd } = write(file === "." || file === "nope.csv" ? "other.csv" : file, content);
    const failed = await cli.mailsvc(["contacts", "import", file], { cwd });
    expect([failed.code, failed.stdout]).toEqual([code, ""]);
    for (const text of said) expect(failed.stderr).toContain(text);
    expect(await contacts(cli)).toEqual([]);
  });

  test("in Windows-1252 once it is said", async () => {
    const cli = await startCliWithServer();
    const { cwd } = write("p.csv", Buffer.from("email,firstName\na@example.com,M\xfcller \x80\n", "latin1"));
    expect((await cli.mailsvc(["contacts", "import", "p.csv", "--encoding", "windows-1252"], { cwd })).code).toBe(0);
    expect((await contacts(cli))[0]?.firstName).toBe("Müller €");
  });

  test.each([
    [["--batch", "0"], "--batch"],
    [["--batch", "1001"], "1 to 1,000"],
    [["--concurrency", "x"], "--concurrency"],
    [["--separator", "ab"], "--separator"],
    [["--types", "money"], "--types"],
    [["--mode", "replace"], "--mode"],
    [["--errors-file", "p.csv"], "--errors-file"],
    [["--map", "Nope=email"], "column Nope not found"],
  ])("flags %j are refused, exit 2", async (flags, said) => {
    const { mailsvc } = await startCliWithServer();
    const { cwd } = write("p.csv", people(1));
    const failed = await mailsvc(["contacts", "import", "p.csv", ...flags], { cwd });
    expect([failed.code, failed.stdout]).toEqual([2, ""]);
    expect(failed.stderr).toContain(said);
  });
});

describe("a trial", () => {
  test("says what would happen, and does nothing", async () => {
    const cli = await startCliWithServer();
    const { cwd } = write("p.csv", "email,firstName\nada@example.com,Ada\nnew@example.com,\nbad,\n");
    await cli.mailsvc(["contacts", "create", "--email", "ada@example.com"]);
    const done = await cli.mailsvc(["contacts", "import", "p.csv", "--dry-run", "--errors-file", "f.csv"], { cwd });
    expect([done.code, done.json.dryRun, counts(done.json)]).toEqual([11, true, { rows: 3, created: 1, updated: 1, failed: 1 }]);
    expect((await contacts(cli)).map((c) => [c.email, c.firstName])).toEqual([["ada@example.com", null]]);
    expect(existsSync(join(cwd, "p.csv.import"))).toBe(false);
    expect(readFileSync(join(cwd, "f.csv"), "utf8")).toContain("bad");
  });
});

describe("an import that is being undone", () => {
  test("is waited for by undo-import, also on a second call, and by an import with the same tag", async () => {
    const cli = await startCliWithServer();
    const rows = Array.from({ length: 450 }, (_, i) => `r${i}@example.com\n`);
    const { cwd } = write("p.csv", `email\n${rows.join("")}`);
    const imported = ["contacts", "import", "p.csv", "--tag", "fair"];
    expect((await cli.mailsvc(imported, { cwd })).json).toMatchObject({ created: 450, tag: "fair" });
    const [first, second] = await Promise.all([1, 2].map(() => cli.mailsvc(["contacts", "undo-import", "fair"])));
    for (const ended of [first, second]) expect([ended?.code, ended?.json]).toMatchObject([0, { state: "UNDONE", created: 0 }]);
    expect(`${first?.stderr}${second?.stderr}`).toContain("in the background");
    expect((await cli.mailsvc(imported, { cwd })).json).toMatchObject({ created: 450, tag: "fair" });
    await cli.world.sdk.contacts.undoImport("fair");
    expect((await cli.mailsvc(imported, { cwd })).json).toMatchObject({ created: 450, tag: "fair" });
  });
});

describe("people at a terminal", () => {
  test("get a summary of what came in, and what was kept and left out", async () => {
    const { mailsvc } = await startCliWithServer();
    const { cwd } = write("people.csv", "email,Company,id\nada@example.com,A,1\nno,B,2\n");
    const env = { NO_COLOR: "1", TERM: "dumb" };
    const done = await mailsvc(["contacts", "import", "people.csv"], { cwd, tty: TERMINAL, env });
    expect(done.stdout).toMatch(
      /^Imported people\.csv\nrows +2\ncreated +1\nfailed +1\nundo +mailsvc contacts undo-import import:2026-01-01-1\nkept as custom fields +Company\nignored columns +id\n$/,
    );
    expect(done.stderr).toBe('line 3, email: "no" has no @.\n');
  });
});

describe("suppressions", () => {
  test("come from a file, with a reason for those that give none", async () => {
    const { mailsvc } = await startCliWithServer();
    const { cwd } = write("gone.csv", "Email Address,Reason,note\nada@example.com,,by phone\nbob@example.com,Complaint,\nno,,\n");
    const done = await mailsvc(["suppressions", "import", "gone.csv", "--reason", "bounce"], { cwd });
    expect([done.code, done.json]).toMatchObject([11, { rows: 3, created: 2, widened: 0, unchanged: 0, failed: 1 }]);
    const { data } = (await mailsvc(["suppressions", "list"])).json;
    expect(data.map((s: { email: string; reason: string; note: string | null }) => [s.email, s.reason, s.note]).sort()).toEqual([
      ["ada@example.com", "bounce", "by phone"],
      ["bob@example.com", "complaint", null],
    ]);
    expect((await mailsvc(["suppressions", "import", "gone.csv"], { cwd })).json.unchanged).toBe(2);
  });
});
