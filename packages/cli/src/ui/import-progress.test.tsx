import { render } from "ink-testing-library";
import { expect, test, vi } from "vitest";
import type { ImportState } from "../import/importer.ts";
import { ImportProgress, type ImportProgressProps } from "./import-progress.tsx";

const state = (more: Partial<ImportState> = {}): ImportState => ({
  rows: 62_000,
  failed: 0,
  counts: { created: 60_000, updated: 2_000, skipped: 0 },
  automations: [],
  consumed: 620,
  resumedAt: 0,
  resumedBytes: 0,
  stopping: false,
  ...more,
});

const show = (props: Partial<ImportProgressProps> = {}) =>
  render(
    <ImportProgress
      name="people.csv"
      size={1000}
      state={state()}
      outcomes={["created", "updated", "skipped"]}
      dryRun={false}
      began={0}
      lines={() => []}
      now={() => 10_000}
      sleep={(ms, signal) =>
        new Promise((done) => {
          const timer = setTimeout(done, ms / 10);
          signal.addEventListener("abort", () => {
            clearTimeout(timer);
            done();
          });
        })
      }
      {...props}
    />,
  );

test("says how far it is, how fast, how long it takes, and what rows came to", () => {
  const screen = show();
  const frame = screen.lastFrame() ?? "";
  expect(frame).toContain("Importing people.csv  62,000 rows  6,200 a second");
  expect(frame).toMatch(/━{24}─{16} {2}62 % {2}0:07 left/);
  expect(frame).toContain("created 60,000   updated 2,000");
  expect(frame).not.toContain("skipped");
  expect(frame).not.toContain("failed");
  screen.unmount();
});

test("rows an earlier run had done count for the bar, and not for the pace", () => {
  const screen = show({ state: state({ resumedAt: 52_000, resumedBytes: 520 }) });
  expect(screen.lastFrame()).toContain("1,000 a second");
  expect(screen.lastFrame()).toContain("62 %  0:38 left");
  screen.unmount();
});

test("of a pipe nobody knows the end: no bar, no time left", () => {
  const screen = show({ name: "stdin", size: null });
  expect(screen.lastFrame()).toContain("62,000 rows");
  expect(screen.lastFrame()).not.toMatch(/[%━]|left/);
  screen.unmount();
});

test("follows the import, keeps failed rows above the bar, and tells when it is stopping", async () => {
  const now = state({ rows: 0, counts: {}, consumed: 0 });
  const lines: string[] = [];
  const screen = show({ state: now, lines: () => lines });
  lines.push('line 3, E-mail: "bad" has no @.');
  Object.assign(now, { rows: 1000, failed: 1, consumed: 1000 });
  await vi.waitFor(() => expect(screen.frames.join("\n")).toContain('line 3, E-mail: "bad" has no @.'));
  await vi.waitFor(() => expect(screen.lastFrame()).toContain("failed 1"));
  expect(screen.lastFrame()).toContain("100 %");
  now.stopping = true;
  await vi.waitFor(() => expect(screen.lastFrame()).toContain("Finishing the requests in flight: people.csv"));
  screen.unmount();
});

test("a trial says so, and a file's name cannot steer the terminal", () => {
  const screen = show({ dryRun: true, name: "a\u001b[2Jb\u202e.csv" });
  expect(screen.lastFrame()).toContain("Checking ab.csv");
  screen.unmount();
});
