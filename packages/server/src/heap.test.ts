import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { createHeapSaver, REST_MS } from "./heap.ts";

/** A heap saver whose timers are fired by hand, and the flags it has set. */
function setUp() {
  const flags: string[] = [];
  const timers = new Set<{ ms: number; fire: () => void }>();
  const after = (ms: number, fire: () => void) => {
    const timer = { ms, fire };
    timers.add(timer);
    return { cancel: () => void timers.delete(timer) };
  };
  const save = createHeapSaver({ after }, (flag) => void flags.push(flag));
  const rest = (): void => {
    for (const timer of [...timers]) {
      expect(timer.ms).toBe(REST_MS);
      timers.delete(timer);
      timer.fire();
    }
  };
  return { flags, timers, save, rest };
}

test("The heap grows slowly from the first part of work in bulk until some time after the last", () => {
  const { flags, timers, save, rest } = setUp();
  for (let i = 0; i < 3; i += 1) save();
  expect(flags).toEqual(["--heap-growing-percent=70"]);
  expect(timers.size).toBe(1);
  rest();
  expect(flags).toEqual(["--heap-growing-percent=70", "--heap-growing-percent=0"]);
  save();
  rest();
  expect(flags.slice(2)).toEqual(flags.slice(0, 2));
});

test("V8 knows the flag, and 0 is its default", () => {
  const options = execFileSync(process.execPath, ["--v8-options"], { encoding: "utf8" });
  expect(options).toMatch(/--heap-growing-percent .*\n.*default: --heap-growing-percent=0/);
});
