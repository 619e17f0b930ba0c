import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
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

test("a command that is asked to stop and ignores it is ended after five seconds", async () => {
  const stop = new AbortController();
  let slept = 0;
  // Until the command ignores SIGTERM, it waits for it; then time passes as fast as it can.
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-command-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "ready");
  const script = `process.on("SIGTERM", () => {}); require("node:fs").writeFileSync(${JSON.stringify(file)}, "ready"); setInterval(() => {}, 1000)`;
  const sleep = async (ms: number): Promise<void> => {
    slept += ms;
    await new Promise((done) => setImmediate(done));
  };
  const code = run([process.execPath, "-e", script], { platform: process.platform, sleep }, stop.signal);
  await vi.waitFor(() => expect(readFileSync(file, "utf8")).toBe("ready"), { timeout: 60_000, interval: 20 });
  stop.abort();
  expect(await code).toBe(137);
  expect(slept).toBeGreaterThanOrEqual(5000);
});
