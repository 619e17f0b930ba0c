import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cli, folder } from "./harness.ts";

test("backup while a server runs, and restore into an empty folder, from which a server starts", async () => {
  const [data, elsewhere] = [folder(), folder()];
  let stop: (signal: "SIGTERM") => void = () => {};
  const serving = cli(["serve", "--port", "0", "--data", data], {
    onStart: (signal) => {
      stop = signal;
    },
  });
  // It ends once it has started: the signal waits for it.
  stop("SIGTERM");
  expect((await serving).code).toBe(0);

  const file = join(elsewhere, "monday.backup");
  const made = await cli(["backup", file, "--data", data]);
  expect([made.code, made.json.key, made.stderr]).toEqual([0, "included", expect.stringContaining("contains the key")]);
  expect(made.json).toMatchObject({ file, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(await cli(["backup", file, "--data", data])).toMatchObject({ code: 2, stderr: expect.stringContaining("exists already") });
  expect(await cli(["backup", join(elsewhere, "x"), "--data", folder()])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("There is no mailsvc database"),
  });

  const nowhere = join(elsewhere, "nowhere", "x");
  expect(await cli(["backup", nowhere, "--data", data])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`${nowhere} cannot be created (ENOENT)`),
  });

  // Truncated or altered, it is damaged.
  const bytes = readFileSync(file);
  const bad = join(elsewhere, "bad.backup");
  for (const [damaged, how] of [
    [bytes.subarray(0, bytes.length - 5000), "is truncated"],
    [Buffer.concat([bytes.subarray(0, 4096), Buffer.alloc(4096 * 4, 0xff), bytes.subarray(4096 * 5)]), "is damaged"],
  ] as const) {
    writeFileSync(bad, damaged);
    const refused = await cli(["restore", bad, "--data", join(elsewhere, "refused")]);
    expect([refused.code, refused.stderr]).toEqual([9, expect.stringContaining(how)]);
  }

  const restored = join(elsewhere, "restored");
  expect(await cli(["restore", file, "--data", restored])).toMatchObject({ code: 0, json: { rows: made.json.rows, restoredTo: restored } });
  expect([existsSync(join(restored, "mailsvc.db")), existsSync(join(restored, "secret.key"))]).toEqual([true, true]);
  expect(await cli(["restore", file, "--data", restored])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("holds an installation already"),
  });
  const recovered = await cli(["recover-key", "--data", restored]);
  expect(recovered).toMatchObject({ code: 0, json: { apiKey: expect.stringMatching(/^ms_live_/) } });
  expect(await cli(["recover-key", "--data", folder()])).toMatchObject({ code: 10, stderr: expect.stringContaining("--data") });
  const refused = await cli(["serve", "--port", "0", "--data", restored]);
  expect([refused.code, refused.stderr]).toEqual([7, expect.stringMatching(/was restored from a backup of .+--take-over/)]);
  const again = cli(["serve", "--port", "0", "--data", restored, "--take-over"], {
    onStart: (signal) => {
      stop = signal;
    },
  });
  stop("SIGTERM");
  expect((await again).code).toBe(0);
});

test("a location that is empty is wrong usage", async () => {
  for (const command of [["serve"], ["dev"], ["backup", "x"], ["restore", "x"]]) {
    const { code, stderr } = await cli([...command, "--data", ""]);
    expect([command, code, stderr]).toEqual([
      command,
      2,
      expect.stringMatching(/--data needs a (value|folder), but the one given is empty\./),
    ]);
  }
});
