import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { folder } from "./harness.ts";
import { contacts, counts, listening, people, write } from "./import-files.ts";
import { startCliWithServer } from "./world.ts";

describe("an import that was cut off", () => {
  const flags = ["contacts", "import", "p.csv", "--batch", "10", "--concurrency", "2"];

  test("goes on after the rows that are done, and no batch counts twice", async () => {
    const cli = await startCliWithServer();
    const { cwd } = write("p.csv", people(95));
    const first = listening(cli.world, (n) => {
      if (n > 4) throw Object.assign(new TypeError("fetch failed"), { cause: { code: "ENOTFOUND" } });
    });
    const cut = await cli.mailsvc([...flags, "--errors-file", "f.csv"], { cwd, fetch: first.fetch });
    expect(cut.code).toBe(10);
    expect(cut.json).toMatchObject({ complete: false, rows: 40, created: 40, resumeFile: join(cwd, "p.csv.import") });
    expect(cut.stderr).toContain("Run the same command again to resume");
    const second = listening(cli.world);
    const rest = await cli.mailsvc([...flags, "--errors-file", "f.csv"], { cwd, fetch: second.fetch });
    expect([rest.code, counts(rest.json), rest.json.resumedAt]).toEqual([0, { rows: 95, created: 95 }, 40]);
    expect(second.seen.map((r) => r.rows)).toEqual([10, 10, 10, 10, 10, 5]);
    expect(second.seen.map((r) => r.key)).toContain(first.seen[4]?.key);
    expect(await contacts(cli)).toHaveLength(95);
    expect(existsSync(join(cwd, "p.csv.import"))).toBe(false);
  });

  test("whose batch reached the server unheard counts that batch once", async () => {
    const cli = await startCliWithServer();
    const { cwd } = write("p.csv", people(30));
    const deaf: typeof fetch = async (url, init) => {
      const answer = await cli.world.fetch(url as string, init);
      if (!String(url).endsWith("/contacts/import")) return answer;
      throw Object.assign(new TypeError("fetch failed"), { cause: { code: "ENOTFOUND" } });
    };
    expect((await cli.mailsvc(flags, { cwd, fetch: deaf })).code).toBe(10);
    expect((await contacts(cli)).length).toBeGreaterThan(0);
    const rest = await cli.mailsvc(flags, { cwd });
    expect(counts(rest.json)).toEqual({ rows: 30, created: 30 });
  });

  test("by Ctrl-C ends with the batches on their way, exit 130", async () => {
    const cli = await startCliWithServer();
    const { cwd } = write("p.csv", people(95));
    let stop: (name: "SIGINT") => void = () => {};
    const { seen, fetch } = listening(cli.world, (n) => {
      if (n === 3) stop("SIGINT");
    });
    const cut = await cli.mailsvc(flags, {
      cwd,
      fetch,
      onStart: (signal) => {
        stop = signal;
      },
    });
    expect(cut.code).toBe(130);
    expect(cut.json).toMatchObject({ complete: false, created: seen.length * 10 });
    expect(cut.stderr).toContain("Stopping after the requests in flight.");
    expect(seen.length).toBeLessThan(6);
    expect(counts((await cli.mailsvc(flags, { cwd })).json)).toEqual({ rows: 95, created: 95 });
  });

  test("does not go on in a file that is another by now, nor with other flags, nor elsewhere; --restart begins anew", async () => {
    const cli = await startCliWithServer();
    const { cwd, path } = write("p.csv", people(30));
    const { fetch } = listening(cli.world, (n) => {
      if (n > 1) throw Object.assign(new TypeError("fetch failed"), { cause: { code: "ENOTFOUND" } });
    });
    await cli.mailsvc(flags, { cwd, fetch });
    const noted = readFileSync(`${path}.import`, "utf8");
    expect(JSON.parse(noted)).toMatchObject({ batches: 1, rows: 10 });
    expect(await cli.mailsvc([...flags, "--mode", "skip"], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("belongs to another import"),
    });
    expect(await (await startCliWithServer({ seed: 2 })).mailsvc(flags, { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("belongs to another import"),
    });
    writeFileSync(path, people(30).replace("Ada 3", "Eve 3"));
    expect(await cli.mailsvc(flags, { cwd })).toMatchObject({ code: 2, stderr: expect.stringContaining("--restart") });
    writeFileSync(path, people(5));
    expect(await cli.mailsvc(flags, { cwd })).toMatchObject({ code: 2, stderr: expect.stringContaining("--restart") });
    expect(readFileSync(`${path}.import`, "utf8")).toBe(noted);
    expect(counts((await cli.mailsvc([...flags, "--restart"], { cwd })).json)).toEqual({ rows: 5, unchanged: 5 });
  });

  test("goes on in a file that was mended behind what is done", async () => {
    const cli = await startCliWithServer();
    const { cwd, path } = write("p.csv", `${people(20)}${"x".repeat(3_000_000)}`);
    const cut = await cli.mailsvc([...flags, "--concurrency", "1"], { cwd });
    expect([cut.code, cut.json.created]).toEqual([3, 20]);
    expect(cut.stderr).toContain("Line 22 is longer than 1 MiB.");
    writeFileSync(path, people(25));
    expect(counts((await cli.mailsvc(flags, { cwd })).json)).toEqual({ rows: 25, created: 25 });
  });

  test("from a pipe goes on as well, when it may note how far it is", async () => {
    const cli = await startCliWithServer();
    const cwd = folder();
    const { fetch } = listening(cli.world, (n) => {
      if (n > 2) throw Object.assign(new TypeError("fetch failed"), { cause: { code: "ENOTFOUND" } });
    });
    const piped = ["contacts", "import", "-", "--batch", "10", "--concurrency", "1", "--resume-file", "far"];
    expect((await cli.mailsvc(piped, { cwd, fetch, stdin: people(45) })).code).toBe(10);
    const rest = await cli.mailsvc(piped, { cwd, stdin: people(45) });
    expect([counts(rest.json), rest.json.resumedAt]).toEqual([{ rows: 45, created: 45 }, 20]);
  });

  test("leaves each failed row in the errors file once", async () => {
    const cli = await startCliWithServer();
    const { cwd } = write(
      "p.csv",
      `email\n${Array.from({ length: 60 }, (_, i) => (i % 3 === 0 ? `bad${i}` : `u${i}@example.com`)).join("\n")}\n`,
    );
    const { fetch } = listening(cli.world, (n) => {
      if (n > 3) throw Object.assign(new TypeError("fetch failed"), { cause: { code: "ENOTFOUND" } });
    });
    await cli.mailsvc([...flags, "--errors-file", "f.csv"], { cwd, fetch });
    // As a kill between the two writes would leave it: rows beyond what is noted.
    writeFileSync(join(cwd, "f.csv"), `${readFileSync(join(cwd, "f.csv"), "utf8")}bad99,0,x\r\n`);
    expect(counts((await cli.mailsvc([...flags, "--errors-file", "f.csv"], { cwd })).json)).toEqual({
      rows: 60,
      created: 40,
      failed: 20,
    });
    const lines = readFileSync(join(cwd, "f.csv"), "utf8").trimEnd().split("\r\n").slice(1);
    expect(lines.map((l) => l.split(",")[0])).toEqual(Array.from({ length: 20 }, (_, i) => `bad${i * 3}`));
  });
});

describe("the order of the file", () => {
  test("decides between rows of one contact, also with many requests at a time", async () => {
    const cli = await startCliWithServer();
    const rows = Array.from({ length: 200 }, (_, i) => `${i % 2 ? "ADA" : "ada"}@example.com,Name ${i}\nuser${i}@example.com,x\n`);
    const { cwd } = write("p.csv", `email,firstName\n${rows.join("")}`);
    const done = await cli.mailsvc(["contacts", "import", "p.csv", "--batch", "7", "--concurrency", "16"], { cwd });
    expect(done.code).toBe(0);
    expect(done.json.created).toBe(201);
    expect((await contacts(cli)).find((c) => /^ada@/i.test(c.email))?.firstName).toBe("Name 199");
  });
});
