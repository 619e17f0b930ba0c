import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { MB } from "../lib/units.ts";
import { Intake } from "./intake.ts";

/** Memory of this process after garbage collection, bytes. */
function measureMemory(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

test("a message in small pieces takes little more memory than its bytes, and keeps their order", async () => {
  const line = Buffer.from("..x\r\n");
  const chunk = Buffer.alloc(64 * 1024, line);
  let before = 0;
  let taken = 0;
  async function* pieces() {
    before = measureMemory();
    for (let sent = 0; sent < 3 * MB; sent += 5) yield Buffer.from(chunk.subarray(0, 5).buffer, chunk.byteOffset, 5);
    yield Buffer.alloc(2000, "y");
    yield Buffer.from("z");
    taken = measureMemory() - before;
  }
  const { bytes, size, release } = await new Intake(8 * MB).take(pieces(), 8 * MB);
  expect(taken).toBeLessThan(12 * MB);
  const text = Buffer.from(bytes ?? []).toString();
  expect([text.length, text.slice(0, 10), text.slice(-2003, -1999), text.slice(-2)]).toEqual([size, "..x\r\n..x\r\n", "\r\nyy", "yz"]);
  release();
});

test("what is beyond the limit of all messages is read and dropped, until others are released", async () => {
  async function* message(bytes: number) {
    for (let sent = 0; sent < bytes; sent += 100) yield Buffer.alloc(100);
  }
  const intake = new Intake(1000);
  const first = await intake.take(message(800), 5000);
  expect([first.bytes?.length, first.size]).toEqual([800, 800]);
  expect(await intake.take(message(800), 5000)).toMatchObject({ bytes: null, size: 800 });
  first.release();
  expect((await intake.take(message(900), 500)).bytes).toHaveLength(500);
});
