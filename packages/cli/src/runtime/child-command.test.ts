import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ChildCommand, type ChildSettings } from "./child-command.ts";
import { Signals } from "./signals.ts";

const asOnWindows: ChildSettings = {
  env: process.env,
  cwd: process.cwd(),
  platform: "win32",
  onTerminal: false,
  sleep: async () => {},
  endTree: () => {},
};
const run = (argv: readonly string[], settings: Partial<ChildSettings> = {}, stop = new AbortController().signal): Promise<number> =>
  ChildCommand.run(argv, { ...asOnWindows, ...settings }, new Signals(process), stop);

test("arguments reach the command as they are, on Windows too, where a shell would read them", async () => {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-command-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "arguments.json");
  const script = `require("node:fs").writeFileSync(${JSON.stringify(file)}, JSON.stringify(process.argv.slice(1)))`;
  const given = ["npm test", "100 % of $HOME", `it's "quoted"`, "a & b", ""];
  expect(await run([process.execPath, "-e", script, ...given])).toBe(0);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(given);
});

test("on Windows the command ends together with all it has started", async () => {
  const ended: number[] = [];
  const stop = new AbortController();
  const endTree = (pid: number): void => {
    ended.push(pid);
    process.kill(pid, "SIGKILL");
  };
  const code = run([process.execPath, "-e", "setInterval(() => {}, 1000)"], { endTree }, stop.signal);
  stop.abort();
  expect(await code).toBe(137);
  expect(ended).toHaveLength(1);
});
