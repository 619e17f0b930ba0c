import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buildConnector, Client } from "undici";
import { expect, onTestFinished, test } from "vitest";
import type { Clock } from "../lib/clock.ts";
import { AttemptTimeout } from "./attempt.ts";
import { Connection, type Result } from "./connection.ts";

test("a request that hangs times out when its own time is over, not when that of the one before is", async () => {
  const real = fakeTime();
  const connection = await connect();
  expect(await send(connection, "/quick", 8000, real)).toMatchObject({ status: 200 });
  real.advance(5000);
  const ended: Result[] = [];
  const hanging = send(connection, "/hangs", 8000, real).then((result) => ended.push(result));
  real.advance(7999);
  await send(await connect(), "/quick", 8000, real);
  expect(ended).toEqual([]);
  real.advance(1);
  await hanging;
  expect(ended).toMatchObject([{ error: expect.any(AttemptTimeout), responding: false }]);
  expect(connection.isClosed).toBe(true);
  expect(real.pending.size).toBe(0);
});

test("a request with less time than the one before times out by then", async () => {
  const real = fakeTime();
  const connection = await connect();
  await send(connection, "/quick", 8000, real);
  const hanging = send(connection, "/hangs", 250, real);
  real.advance(250);
  expect(await hanging).toMatchObject({ error: expect.any(AttemptTimeout) });
});

test("no timer is left by a request that ended, or whose connection was closed", async () => {
  const real = fakeTime();
  const connection = await connect();
  await send(connection, "/quick", 8000, real);
  expect(real.pending.size).toBe(0);
  const hanging = send(connection, "/hangs", 8000, real);
  expect(real.pending.size).toBe(1);
  connection.close();
  expect(await hanging).toMatchObject({ error: expect.any(Error) });
  expect(real.pending.size).toBe(0);
});

/** A connection to a receiver that answers at once, and never at /hangs. */
async function connect(): Promise<Connection> {
  const server = createServer((request, response) => {
    if (request.url === "/quick") request.resume().on("end", () => response.end());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const connection = new Connection(origin, { Client, connect: buildConnector({}), closed: () => {} });
  onTestFinished(() => {
    connection.close();
    server.closeAllConnections();
    server.close();
  });
  return connection;
}

function send(connection: Connection, path: string, limitMs: number, real: Clock["real"]): Promise<Result> {
  return new Promise((resolve) => connection.send({ path, headers: [], body: Buffer.from("{}") }, limitMs, real, resolve));
}

/** Real time that passes only when told to. */
function fakeTime(): Clock["real"] & { advance(ms: number): void; readonly pending: ReadonlyMap<object, number> } {
  let now = 0;
  const pending = new Map<() => void, number>();
  return {
    pending,
    now: () => now,
    date: () => now,
    after: (ms, fire) => {
      const timer = (): void => fire();
      pending.set(timer, now + ms);
      return { cancel: () => void pending.delete(timer) };
    },
    sleep: () => Promise.reject(new Error("A connection does not sleep.")),
    advance: (ms) => {
      now += ms;
      for (const [timer, at] of [...pending]) if (at <= now && pending.delete(timer)) timer();
    },
  };
}
