import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type DiskEvent, fileAfterCut, readDiskTrace } from "./disk-trace.ts";

const hex = (text: string): string => [...Buffer.from(text)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");

test("a trace is read: calls of several threads, cut in two, with the paths of their files", async () => {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-trace-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "trace");
  const lines = [
    `7   10.000100 pwrite64(3<${hex("/d/a")}>, "${hex("abc")}", 3, 512 <unfinished ...>`,
    `8   10.000200 fdatasync(4<${hex("/d/b")}>) = 0 <0.000300>`,
    "7   10.000400 <... pwrite64 resumed>)      = 3 <0.000500>",
    `7   10.000600 ftruncate(3<${hex("/d/a")}>, 100) = 0 <0.000001>`,
    `7   10.000700 unlink("${hex("/d/c")}") = 0 <0.000001>`,
    `7   10.000800 fsync(3<${hex("/d/a")}>) = -1 EIO (Input/output error) <0.000001>`,
    "7   10.000900 +++ killed by SIGKILL +++",
  ];
  writeFileSync(file, `${lines.join("\n")}\n`);
  expect(await readDiskTrace(file)).toMatchObject([
    { kind: "write", path: "/d/a", offset: 512, bytes: Buffer.from("abc") },
    { kind: "sync", path: "/d/b" },
    { kind: "truncate", path: "/d/a", length: 100 },
    { kind: "unlink", path: "/d/c" },
  ]);
});

test("after a cut, what was flushed is there, and of the rest the sectors that the disk had written by itself", () => {
  const at = (startedAt: number, endedAt = startedAt + 1) => ({ path: "/d/a", startedAt, endedAt });
  const write = (time: number, offset: number, letter: string): DiskEvent => ({
    ...at(time),
    kind: "write",
    offset,
    bytes: Buffer.alloc(1024, letter),
  });
  const before = Buffer.alloc(512, "o");
  const events: DiskEvent[] = [write(10, 512, "a"), { ...at(20, 30), kind: "sync" }, write(25, 1536, "b"), write(40, 0, "c")];
  const read = (cut: number, keeps: () => boolean) => fileAfterCut(before, events, cut, keeps)?.toString();
  const [o, a, b, c] = ["o", "a", "b", "c"].map((letter) => letter.repeat(512));
  // Before the flush has ended, nothing is certain.
  expect(read(22, () => false)).toBe(o);
  // Data written during the flush is not part of it.
  expect(read(35, () => false)).toBe(`${o}${a}${a}`);
  expect(read(35, () => true)).toBe(`${o}${a}${a}${b}${b}`);
  let turn = 0;
  expect(read(45, () => turn++ % 2 === 1)).toBe(`${o}${c}${a}${"\0".repeat(512)}${b}`);
  expect(fileAfterCut(before, [...events, { ...at(50), kind: "unlink" }], 60, () => true)).toBeNull();
});
