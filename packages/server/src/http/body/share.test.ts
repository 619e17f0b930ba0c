import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { KB, MB } from "../../lib/units.ts";
import { BodyMemory, type BodyShare, readNodeBody } from "./read.ts";

/** Requests that take a share and keep it until they are told to end; `bytes` counts what those at it have. */
function crowd(take: (share: BodyShare, bytes: number) => Promise<void>) {
  const memory = new BodyMemory();
  const at: { bytes: number; end: () => void }[] = [];
  return {
    at,
    bytes: () => at.reduce((sum, { bytes }) => sum + bytes, 0),
    join: (bytes: number): void => {
      const share = memory.open();
      void take(share, bytes).then(() => {
        const end = (): void => {
          at.splice(at.indexOf(one), 1);
          share.release();
        };
        const one = { bytes, end };
        at.push(one);
      });
    },
  };
}

test.each([
  ["received", 48, (share: BodyShare, bytes: number) => share.receive(bytes)],
  ["worked on", 32, (share: BodyShare, bytes: number) => share.work(bytes)],
])("of twenty-four bodies of 26 MB at once no more than fit are %s, and all have their turn", async (_, limit, take) => {
  const { at, bytes, join } = crowd(take);
  for (let i = 0; i < 24; i += 1) join(26 * MB);
  for (let done = 0; done < 24; done += 1) {
    await nextTurn();
    expect(at.length).toBeGreaterThan(0);
    expect(bytes()).toBeLessThanOrEqual(limit * MB);
    at[0]?.end();
  }
  await nextTurn();
  expect(at).toEqual([]);
});

test("bodies of less than a megabyte have a limit of their own, which large ones do not use up", async () => {
  const { at, bytes, join } = crowd((share, size) => share.receive(size));
  for (let i = 0; i < 3; i += 1) join(30 * MB);
  for (let i = 0; i < 200; i += 1) join(900 * KB);
  await nextTurn();
  const of = (size: number): number => at.filter((one) => one.bytes === size).length;
  expect([of(30 * MB), of(900 * KB)]).toEqual([1, 36]);
  expect(bytes()).toBeLessThan(80 * MB);
});

test("a body is not read before it has its share, also one that does not say how large it is", async () => {
  const memory = new BodyMemory();
  const holder = memory.open();
  await holder.receive(64 * MB);
  const arrive = (headers: Record<string, string>) => {
    const body = new PassThrough({ highWaterMark: 10 * MB });
    const share = memory.open();
    const read = readNodeBody(Object.assign(body, { headers }) as unknown as IncomingMessage, 30 * MB, share);
    return { body, share, read };
  };
  const announced = arrive({ "content-length": String(2 * MB) });
  const chunked = arrive({});
  for (const { body } of [announced, chunked]) {
    for (let i = 0; i < 2 * KB; i += 1) body.write(Buffer.alloc(KB));
    body.end();
  }
  await nextTurn();
  expect(announced.body.readableLength).toBe(2 * MB);
  expect(chunked.body.readableLength).toBeGreaterThan(MB / 2);
  holder.release();
  for (const { read, share } of [announced, chunked]) {
    expect((await read).length).toBe(2 * MB);
    share.release();
  }
  // All was given back.
  const { at, join } = crowd(async (_share, size) => memory.open().receive(size));
  join(64 * MB);
  await nextTurn();
  expect(at).toHaveLength(1);
});

test("a request that ends while it waits leaves its share to the next", async () => {
  const memory = new BodyMemory();
  const [first, gone, last] = [memory.open(), memory.open(), memory.open()];
  await first.work(30 * MB);
  const waits = [gone.work(30 * MB), last.work(30 * MB)];
  gone.release();
  first.release();
  await Promise.all(waits);
  expect(waits).toHaveLength(2);
});
