import { EventEmitter } from "node:events";
import { Duplex } from "node:stream";
import { describe, expect, test } from "vitest";
import { realTime } from "../lib/clock.ts";
import { CHUNK_BYTES } from "../lib/turn.ts";
import { MB } from "../lib/units.ts";
import { type SmtpConnection, SmtpSession } from "./smtp-session.ts";

describe("A large message", () => {
  const LARGE = Buffer.alloc(8 * MB, "x");

  test("is written at most a megabyte in a turn of the event loop", async () => {
    let inTurn = 0;
    let most = 0;
    let over = false;
    const nextTurn = (): void => {
      inTurn = 0;
      if (!over) setImmediate(nextTurn);
    };
    const session = sessionOn((bytes, done) => {
      inTurn += bytes.length;
      most = Math.max(most, inTurn);
      done();
    });
    nextTurn();
    expect((await session.send({ from: "a@x.example", to: "b@x.example" }, LARGE)).receipt).toMatchObject({ outcome: "sent" });
    over = true;
    expect(most).toBeGreaterThan(CHUNK_BYTES / 2);
    expect(most).toBeLessThanOrEqual(2 * CHUNK_BYTES);
  });

  test("waits in memory once, not a second time in the buffer of a connection whose server does not read", async () => {
    let written = 0;
    const session = sessionOn((bytes) => {
      written += bytes.length;
    });
    const sent = session.send({ from: "a@x.example", to: "b@x.example" }, LARGE);
    for (let i = 0; i < 100; i += 1) await new Promise(setImmediate);
    expect(written).toBeLessThan(100_000);
    expect(session.socket.writableLength).toBeLessThan(200_000);
    session.abort("It takes too long.");
    expect((await sent).receipt).toMatchObject({ outcome: "deferred", error: { message: "It takes too long." } });
    expect(session.alive).toBe(false);
  });

  test("is in doubt from the first byte of its last piece on, not only when that has left", async () => {
    for (const [size, outcome] of [
      [1000, "unknown"],
      [100_000, "deferred"],
    ] as const) {
      // The envelope leaves; the first piece of the message does not.
      const session = sessionOn(() => {});
      const sent = session.send({ from: "a@x.example", to: "b@x.example" }, LARGE.subarray(0, size));
      for (let i = 0; i < 10; i += 1) await new Promise(setImmediate);
      session.abort("Cut.");
      expect((await sent).receipt).toMatchObject({ outcome });
    }
  });
});

/** A session on a connection whose writes go to `write`, after the envelope; its server takes everything. */
function sessionOn(write: (bytes: Buffer, done: () => void) => void): SmtpSession & { socket: Duplex } {
  let envelope = true;
  const socket = new Duplex({
    highWaterMark: 64 * 1024,
    read: () => {},
    write: (bytes: Buffer, _encoding, done) => {
      if (envelope) {
        envelope = false;
        socket.push("250 ok\r\n250 ok\r\n354 go on\r\n");
        return done();
      }
      if (bytes.toString("latin1").endsWith("\r\n.\r\n")) socket.push("250 queued\r\n");
      write(bytes, done);
    },
  });
  const connection = Object.assign(new EventEmitter(), {
    _socket: socket,
    _supportedExtensions: ["PIPELINING"],
    _maxAllowedSize: 0,
    destroyed: false,
    close: () => {
      connection.destroyed = true;
      socket.destroy();
      connection.emit("end");
    },
  });
  return Object.assign(new SmtpSession(connection as unknown as SmtpConnection, realTime), { socket });
}
