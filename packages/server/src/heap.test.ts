import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { createHeapSaver, REST_MS } from "./heap.ts";

/** A heap saver whose timers are fired by hand, the flags it has set, and a heap whose semi-spaces have `heap.semiSpaces` MB. */
function setUp(emails: "captured" | "sent" = "captured") {
  const flags: string[] = [];
  const heap = { semiSpaces: 4 };
  const timers = new Set<{ ms: number; fire: () => void }>();
  const after = (ms: number, fire: () => void) => {
    const timer = { ms, fire };
    timers.add(timer);
    return { cancel: () => void timers.delete(timer) };
  };
  const save = createHeapSaver({ after }, emails, {
    setFlag: (flag) => void flags.push(flag),
    semiSpaces: () => heap.semiSpaces * 2 ** 20,
  });
  const rest = (): void => {
    for (const timer of [...timers]) {
      expect(timer.ms).toBe(REST_MS);
      timers.delete(timer);
      timer.fire();
    }
  };
  return { flags, heap, timers, save, rest };
}

test("The old generation grows slowly from the first part of work in bulk until some time after the last", () => {
  const { flags, timers, save, rest } = setUp();
  for (let i = 0; i < 3; i += 1) save();
  expect(flags).toEqual(["--heap-growing-percent=70"]);
  expect(timers.size).toBe(1);
  rest();
  expect(flags).toEqual(["--heap-growing-percent=70", "--heap-growing-percent=0", "--semi-space-growth-factor=2"]);
  save();
  rest();
  expect(flags.slice(3)).toEqual(flags.slice(0, 3));
});

test.for([
  ["captured", 32],
  ["sent", 64],
] as const)("While emails in bulk are %s, the semi-spaces grow to %d MB, and further only afterwards", ([emails, enough]) => {
  const { flags, heap, save, rest } = setUp(emails);
  for (heap.semiSpaces = 4; heap.semiSpaces < enough; heap.semiSpaces *= 2) save();
  expect(flags).toEqual(["--heap-growing-percent=70"]);
  for (let i = 0; i < 2; i += 1) save();
  expect(flags).toEqual(["--heap-growing-percent=70", "--semi-space-growth-factor=1"]);
  rest();
  save();
  expect(flags.slice(2)).toEqual(["--heap-growing-percent=0", "--semi-space-growth-factor=2", ...flags.slice(0, 2)]);
});

test("V8 knows the flags, and their defaults are what they are set to afterwards", () => {
  const options = execFileSync(process.execPath, ["--v8-options"], { encoding: "utf8" });
  expect(options).toMatch(/--heap-growing-percent .*\n.*default: --heap-growing-percent=0/);
  expect(options).toMatch(/--semi-space-growth-factor .*\n.*default: --semi-space-growth-factor=2/);
});

test("V8 keeps the semi-spaces at that size while the work goes on, and lets them grow afterwards", () => {
  // Objects of a few rounds stay, which makes V8 enlarge the semi-spaces at almost each collection.
  const program = `
    import { getHeapSpaceStatistics } from "node:v8";
    import { createHeapSaver } from ${JSON.stringify(new URL("heap.ts", import.meta.url))};
    let rest;
    const save = createHeapSaver({ after: (ms, fire) => { rest = fire; return { cancel: () => {} }; } }, "captured");
    const kept = [];
    const allocate = (work) => {
      let largest = 0;
      for (let round = 0; round < 400; round += 1) {
        kept.push(Array.from({ length: 20_000 }, (_, i) => ({ i, list: [i] })));
        if (kept.length > 12) kept.shift();
        work();
        largest = Math.max(largest, getHeapSpaceStatistics().find((space) => space.space_name === "new_space").space_size);
      }
      return largest / 2 ** 20;
    };
    const inBulk = allocate(save);
    rest();
    console.log(JSON.stringify({ inBulk, afterwards: allocate(() => {}) }));
  `;
  // A limit of the process above it, because older versions of V8 have less.
  const flags = ["--max-semi-space-size=64", "--input-type=module", "--disable-warning=ExperimentalWarning"];
  const sizes = JSON.parse(execFileSync(process.execPath, [...flags, "--eval", program], { encoding: "utf8" })) as Record<string, number>;
  // Objects that survive are counted here as well until they are old.
  expect(sizes.inBulk).toBeLessThan(64);
  expect(sizes.afterwards).toBeGreaterThanOrEqual(64);
});
