import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ContactImport } from "@mailsvc/sdk/contract";
import { expect, onTestFinished, test } from "vitest";
import { seededRandom } from "../packages/server/src/lib/random.ts";
import { cleanEnvironment, startServer, until } from "./dev-server.ts";
import { total } from "./support/api.ts";

const program = fileURLToPath(new URL("../packages/cli/dist/main.js", import.meta.url));

const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), "mailsvc-import-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
};

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

const start = (
  argv: string[],
  cwd: string,
  env: Record<string, string>,
  nodeFlags: string[] = [],
): { child: ChildProcess; ended: Promise<Ended> } => {
  const child = spawn(process.execPath, [...nodeFlags, program, ...argv], {
    cwd,
    env: { ...cleanEnvironment(), HOME: cwd, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (part) => (stdout += part));
  child.stderr?.on("data", (part) => (stderr += part));
  return { child, ended: new Promise((done) => child.on("close", (code) => done({ code, stdout, stderr }))) };
};

/** Batches that an import has noted as done. */
const noted = (path: string): number => {
  try {
    return (JSON.parse(readFileSync(path, "utf8")) as { batches: number }).batches;
  } catch {
    return 0;
  }
};

const ROWS = 6000;
const BAD_EVERY = 400;
const KILLS = 3;

test("an import killed again and again takes each row exactly once", async () => {
  const seed = Number(process.env.IMPORT_SEED ?? Date.now() % 1_000_000);
  console.log(`import test: seed ${seed} (IMPORT_SEED repeats its choices)`);
  const random = seededRandom(seed);
  await using server = await startServer();
  const cwd = folder();
  const bad = (i: number): boolean => i % BAD_EVERY === 0;
  const rows = Array.from({ length: ROWS }, (_, i) => (bad(i) ? `bad${i},x` : `user${i}@example.com,"Ada\r\n${i}"`).replace("\r\n", " "));
  writeFileSync(join(cwd, "people.csv"), `email,firstName\r\n${rows.join("\r\n")}\r\n`);
  const argv = ["contacts", "import", "people.csv", "--batch", "100", "--errors-file", "failed.csv"];
  const env = { MAILSVC_URL: server.url, MAILSVC_API_KEY: server.apiKey };
  const notes = join(cwd, "people.csv.import");

  let done = 0;
  for (let kills = 0; kills < KILLS; kills += 1) {
    const goal = done + 1 + Math.floor(random.fraction() * 16);
    const { child, ended } = start(argv, cwd, env);
    await until(`batch ${goal}`, () => noted(notes) >= goal || child.exitCode !== null);
    child.kill("SIGKILL");
    expect((await ended).code).toBeNull();
    done = noted(notes);
  }
  expect(done).toBeGreaterThanOrEqual(KILLS);
  const last = await start(argv, cwd, env).ended;
  expect(last.stderr).toContain("Resuming after row");
  const failed = ROWS / BAD_EVERY;
  expect(JSON.parse(last.stdout)).toMatchObject({
    complete: true,
    rows: ROWS,
    created: ROWS - failed,
    updated: 0,
    unchanged: 0,
    skipped: 0,
    failed,
  });
  expect(last.code).toBe(11);
  expect(await total(server, "/api/v1/contacts")).toBe(ROWS - failed);
  const lines = readFileSync(join(cwd, "failed.csv"), "utf8").trimEnd().split("\r\n").slice(1);
  expect(lines.map((line) => line.split(",")[0])).toEqual(Array.from({ length: failed }, (_, i) => `bad${i * BAD_EVERY}`));
});

test("Ctrl-C ends an import with the batches on their way, and says how it goes on", async () => {
  await using server = await startServer();
  const cwd = folder();
  writeFileSync(join(cwd, "people.csv"), `email\n${Array.from({ length: 4000 }, (_, i) => `user${i}@example.com`).join("\n")}\n`);
  const argv = ["contacts", "import", "people.csv", "--batch", "100"];
  const env = { MAILSVC_URL: server.url, MAILSVC_API_KEY: server.apiKey };
  const { child, ended } = start(argv, cwd, env);
  await until("five batches", () => noted(join(cwd, "people.csv.import")) >= 5 || child.exitCode !== null);
  child.kill("SIGINT");
  const stopped = await ended;
  expect(stopped.code).toBe(130);
  expect(stopped.stderr).toContain("Run the same command again to resume");
  const summary = JSON.parse(stopped.stdout) as { complete: boolean; rows: number; created: number };
  expect(summary).toMatchObject({ complete: false, created: summary.rows });
  expect(await total(server, "/api/v1/contacts")).toBe(summary.rows);
  const rest = await start(argv, cwd, env).ended;
  expect([rest.code, JSON.parse(rest.stdout)]).toMatchObject([0, { rows: 4000, created: 4000, resumedAt: summary.rows }]);
});

/** A server that takes every row; what is measured here is the program. */
const taker = async (): Promise<string> => {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      response.setHeader("content-type", "application/json");
      if (request.method === "GET") return response.end('{"workspace":{"id":"ws_1"}}');
      if (request.url === "/api/v1/contacts/imports") return response.end('{"id":"imp_1","tag":null}');
      const created = (JSON.parse(Buffer.concat(parts).toString()) as { rows: unknown[] }).rows.length;
      const none = { updated: 0, unchanged: 0, skipped: 0, failed: 0, suppressed: 0, joined: 0, asked: 0 };
      response.end(JSON.stringify({ ...none, created, dryRun: false, automations: [], results: [], errors: [] } satisfies ContactImport));
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

// Writes the largest size the process had, in kB, when it ends.
const MEASURE = `data:text/javascript,import{writeFileSync as w}from"node:fs";process.on("exit",()=>w("rss",String(process.resourceUsage().maxRSS)))`;

test("120,000 rows go through a heap that could not hold them", async () => {
  const url = await taker();
  const cwd = folder();
  const largest = async (rows: number): Promise<number> => {
    const lines = Array.from({ length: rows }, (_, i) => `user${i}@example.com,Ada ${i},"Love ""x"" lace","vip;g${i % 10}",pro,${i % 50}`);
    writeFileSync(join(cwd, "people.csv"), `email,firstName,lastName,tags,Plan,Seats\n${lines.join("\n")}\n`);
    // 120,000 rows that were kept would take more than these 64 MB.
    const env = { MAILSVC_URL: url, MAILSVC_API_KEY: "ms_live_0123456789abcdef" };
    const { code, stdout, stderr } = await start(["contacts", "import", "people.csv"], cwd, env, [
      "--max-old-space-size=64",
      "--import",
      MEASURE,
    ]).ended;
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ rows, created: rows });
    return Number(readFileSync(join(cwd, "rss"), "utf8")) / 1024;
  };
  const few = await largest(24_000);
  const many = await largest(120_000);
  console.log(`import of 24,000 rows: ${Math.round(few)} MB at most; of 120,000: ${Math.round(many)} MB`);
  // Nothing is kept: memory is flat but for what the collector frees lazily.
  expect(many - few).toBeLessThan(60);
});
