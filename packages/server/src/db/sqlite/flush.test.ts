import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Flusher } from "./flush.ts";

type Done = (error: Error | null) => void;

const syncs: Done[] = [];

let folder: string;
let flusher: Flusher;

beforeEach(() => {
  syncs.length = 0;
  folder = mkdtempSync(join(tmpdir(), "mailsvc-flush-"));
  writeFileSync(join(folder, "log"), "x");
  flusher = new Flusher(join(folder, "log"), (_fd, done) => void syncs.push(done));
});
afterEach(() => {
  flusher.close();
  rmSync(folder, { recursive: true, force: true });
});

const turn = (): Promise<void> => new Promise((next) => setImmediate(next));

test("one flush is under way, and one more for all who came after it began", async () => {
  const ends: number[] = [];
  const first = flusher.flush().then(() => ends.push(1));
  const later = [flusher.flush(), flusher.flush()].map((one) => one.then(() => ends.push(2)));
  expect(syncs).toHaveLength(1);
  syncs[0]?.(null);
  await first;
  await turn();
  expect([syncs.length, ...ends]).toEqual([2, 1]);
  const last = flusher.flush();
  syncs[1]?.(null);
  await Promise.all(later);
  await turn();
  expect(syncs).toHaveLength(3);
  expect(flusher.pending).not.toBeNull();
  syncs[2]?.(null);
  await last;
  expect(flusher.pending).toBeNull();
});

test("a flush that fails is told to all who waited for it", async () => {
  const first = flusher.flush();
  const second = flusher.flush();
  syncs[0]?.(Object.assign(new Error("no"), { code: "EIO" }));
  await expect(first).rejects.toThrow("no");
  await expect(second).rejects.toThrow("no");
  expect(flusher.pending).toBeNull();
});
