import { join } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { createDatabase, dropDatabases } from "../../server/test/postgres.ts";
import { cli, folder, TERMINAL } from "./harness.ts";

afterAll(dropDatabases);

/** A folder in which a server has run. */
const installation = async (): Promise<string> => {
  const data = folder();
  let stop: (signal: "SIGTERM") => void = () => {};
  const serving = cli(["serve", "--port", "0", "--data", data], {
    onStart: (signal) => {
      stop = signal;
    },
  });
  // It ends once it has started: the signal waits for it.
  stop("SIGTERM");
  expect((await serving).code).toBe(0);
  return data;
};

const emptyDatabase = async (): Promise<string> => {
  const database = await createDatabase("empty");
  onTestFinished(database.drop);
  return database.url;
};

test("migrate moves a folder to Postgres and reports rows and checksums: JSON in a pipe, a table for people", async () => {
  const from = await installation();
  const to = await emptyDatabase();
  const piped = await cli(["migrate", "--from", from, "--to", to]);
  expect([piped.code, piped.stderr]).toEqual([0, expect.stringContaining("--database-url")]);
  expect(piped.json).toMatchObject({ from, resumed: false });
  expect(piped.json.tables).toContainEqual({ table: "workspaces", rows: 1, checksum: expect.stringMatching(/^[0-9a-f]{16}$/) });
  const shown = await cli(["migrate", "--from", await installation(), "--to", await emptyDatabase()], { tty: TERMINAL });
  expect(shown.stdout).toMatch(/workspaces +1 +[0-9a-f]{16}/);
  expect(shown.stdout).toContain("the checksums match");
});

test("migrate says what is wrong: no installation, a target in use, an address that is none", async () => {
  const from = await installation();
  const to = await emptyDatabase();
  expect(await cli(["migrate", "--from", folder(), "--to", to])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("There is no mailsvc database"),
  });
  expect(await cli(["migrate", "--from", from, "--to", "mysql://x"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("postgres://"),
  });
  expect((await cli(["migrate", "--from", from, "--to", to])).code).toBe(0);
  expect(await cli(["migrate", "--from", from, "--to", to])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("holds an installation already"),
  });
  const elsewhere = await cli(["migrate", "--from", from, "--to", await emptyDatabase()]);
  expect([elsewhere.code, elsewhere.stderr]).toEqual([2, expect.stringMatching(/was moved to .+--take-over/)]);
  expect(await cli(["migrate", "--from", from, "--to", folder()])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("are folders"),
  });
  const nobody = await cli(["migrate", "--from", await installation(), "--to", "postgres://user:hidden@127.0.0.1:1/x"]);
  expect([nobody.code, nobody.stderr]).toEqual([10, expect.stringContaining("ECONNREFUSED")]);
  expect(nobody.stderr).not.toContain("hidden");
});

test("migrate moves a database back into a folder", async () => {
  const url = await emptyDatabase();
  expect((await cli(["migrate", "--from", await installation(), "--to", url])).code).toBe(0);
  const data = join(folder(), "back");
  const back = await cli(["migrate", "--from", url, "--to", data]);
  expect([back.code, back.stderr]).toEqual([0, expect.stringContaining(`--data ${data}`)]);
  expect(back.json.tables).toContainEqual({ table: "workspaces", rows: 1, checksum: expect.stringMatching(/^[0-9a-f]{16}$/) });
});
