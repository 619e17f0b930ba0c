import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, onTestFinished, test, vi } from "vitest";
import { talkSmtp } from "../../test/smtp-client.ts";
import { MB } from "../lib/units.ts";
import { createSubmissionAccess } from "../submission-access.ts";
import { createWorld } from "../testing.ts";
import { serveSubmission } from "./submission.ts";

const OF_EACH_KIND = 50;
// The messages of all sessions together may take 128 MB, and what is being read of each session 512 kB.
const LIMIT = 128 * MB + 4 * OF_EACH_KIND * 512 * 1024;
const LINE = Buffer.from(`${"x".repeat(900)}\r\n`.repeat(72));
const WITHOUT_END = Buffer.alloc(64 * 1024, "x");
const HONEST = [
  ...["EHLO app", "MAIL FROM:<hello@acme.example>", "RCPT TO:<ada@example.com>", "DATA"],
  Buffer.from("Subject: Hello\r\n\r\nHi Ada\r\n.\r\n"),
];

/** Memory of this process after garbage collection, bytes. */
function measureMemory(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Opens a connection and reads its greeting. */
async function open(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "data");
  // Replies of the server are dropped.
  socket.resume();
  return socket;
}

/** Writes as fast as the server reads, until it has read `bytes` or cuts the connection. */
async function flood(socket: Socket, chunk: Buffer, bytes: number): Promise<void> {
  for (let sent = 0; sent < bytes && !socket.destroyed; sent += chunk.length)
    await new Promise<void>((done) => void socket.write(chunk, () => done()));
}

test("200 hostile sessions take no more memory than all messages may, and leave none behind", { timeout: 300_000 }, async () => {
  const world = await createWorld();
  onTestFinished(() => world.dispose());
  const { deps, installation } = world.app;
  const options = { host: "127.0.0.1", port: 0, tls: null, insecureAuth: false };
  const server = await serveSubmission(deps, createSubmissionAccess(deps, installation), options);
  onTestFinished(() => server.close());
  const { port } = server;
  expect((await talkSmtp(port, HONEST)).at(-1)).toMatch(/^250 /);
  const before = measureMemory();

  const sessions = await Promise.all(Array.from({ length: 4 * OF_EACH_KIND }, () => open(port)));
  const take = (kind: number): Socket[] => sessions.slice(kind * OF_EACH_KIND, (kind + 1) * OF_EACH_KIND);
  // Half a command; a connection whose other side has gone silent; a command without end; a message without end.
  for (const socket of take(0)) socket.write("EHL");
  const silent = take(1);
  for (const socket of silent) socket.pause();
  await Promise.all(take(2).map((socket) => flood(socket, WITHOUT_END, 2 * MB)));
  await Promise.all(
    take(3).map(async (socket) => {
      socket.write("EHLO app\r\nMAIL FROM:<a@acme.example>\r\nRCPT TO:<ada@example.com>\r\nDATA\r\n");
      await flood(socket, LINE, 6 * MB);
    }),
  );

  // Memory outside the heap is freed by another thread, some time after its collection.
  await vi.waitFor(() => expect(measureMemory() - before).toBeLessThan(LIMIT), { timeout: 60_000, interval: 500 });
  // Honest clients are told to come back, or get in as soon as there is room.
  expect((await talkSmtp(port, HONEST)).at(-1)).toMatch(/^(?:250 2\.0\.0 queued|452 4\.3\.1 Too many messages)/);
  for (const socket of sessions) socket.destroy();
  await vi.waitFor(() => expect(measureMemory() - before).toBeLessThan(16 * MB), { timeout: 60_000, interval: 500 });
  expect((await talkSmtp(port, HONEST)).at(-1)).toMatch(/^250 2\.0\.0 queued/);
  expect(deps.submissionPorts.list()).toEqual([{ port, tls: "none", full: false }]);
});
