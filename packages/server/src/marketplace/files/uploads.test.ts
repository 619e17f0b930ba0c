import { FILE_LIMITS } from "@mailsvc/sdk/contract";
import { and, eq, isNotNull, sum } from "drizzle-orm";
import { expect, test } from "vitest";
import { createTestAgent, pdf, png, type TestAgent } from "../../../test/agent.ts";
import type { Tx } from "../../db/db.ts";
import { StorageUnavailable } from "../../db/errors.ts";
import { createWorld, type TestWorld } from "../../testing.ts";
import { PART_BYTES } from "./contents.ts";

const MB = 1024 * 1024;

/** A PDF of about this size, different for each name. */
const large = (name: string, bytes: number): Buffer => pdf(name.repeat(Math.ceil(bytes / name.length)));

const upload = (agent: TestAgent, name: string, bytes: Buffer, headers: Record<string, string> = {}) => {
  const form = new FormData();
  form.append("title", name);
  form.append("file", new Blob([Uint8Array.from(bytes)]), `${name}.pdf`);
  return agent.call("POST", "/lead-magnets", form, headers);
};

const statuses = (answers: readonly { status: number }[]): number[] => answers.map(({ status }) => status).sort();

/** Counts stored contents, staged contents, and parts. */
const stored = async ({ app }: TestWorld) => {
  const { fileContents: c, fileParts: p } = app.deps.db.read.t;
  const all = await app.deps.db.read.$count(c);
  const staged = await app.deps.db.read.$count(c, isNotNull(c.stagedAt));
  return { kept: all - staged, staged, parts: await app.deps.db.read.$count(p) };
};

/** Leaves an activation, or its workspace, this much of its quota. */
const leave = async (
  { app, workspaceId }: TestWorld,
  { activationId }: TestAgent,
  of: "agent" | "workspace",
  room: number,
): Promise<void> => {
  const { db, ids, clock } = app.deps;
  await db.tx(async (tx) => {
    const content = { id: ids("fc"), workspaceId, sha256: "0".repeat(64), activationId: null, stagedAt: null };
    const magnet = { id: ids("lm"), workspaceId, runId: null, sha256: "0".repeat(64), title: "", description: null, fileName: "a.pdf" };
    const size = (of === "agent" ? FILE_LIMITS.activationBytes : FILE_LIMITS.workspaceBytes) - room;
    await tx.insert(tx.t.fileContents).values({ ...content, size: of === "agent" ? 0 : size });
    const row = {
      ...magnet,
      contentType: "application/pdf",
      activationId: of === "agent" ? activationId : null,
      size,
      createdAt: clock.now(),
    };
    await tx.insert(tx.t.leadMagnets).values(row);
  });
};

/** Holds an upload after this many parts; `stopped` resolves when it is there. */
const stopAfter = ({ app }: TestWorld, parts: number) => {
  const db = app.deps.db as { tx: <T>(fn: (tx: Tx) => Promise<T>) => Promise<T> };
  const { tx } = db;
  let seen = 0;
  let arrive = (): void => {};
  let goOn = (): void => {};
  const stopped = new Promise<void>((done) => {
    arrive = done;
  });
  const going = new Promise<void>((done) => {
    goOn = done;
  });
  db.tx = async (fn) => {
    // Others write too.
    const writes = String(fn).includes("fileParts");
    if (writes && seen++ === parts) {
      db.tx = tx;
      arrive();
      await going;
    }
    return tx(fn);
  };
  return { stopped, goOn };
};

test.each([["agent"], ["workspace"]] as const)("concurrent uploads never exceed the quota of the %s", async (of) => {
  await using world = await createWorld();
  const agent = await createTestAgent(world);
  // Quota for two of them, large and small ones.
  await leave(world, agent, of, Math.floor(2.5 * MB));
  const names = ["a", "b", "c", "d", "e"];
  const answers = await Promise.all(names.map((name) => upload(agent, name, large(name, MB))));
  expect(statuses(answers)).toEqual([201, 201, 409, 409, 409]);
  await world.settle();
  expect(await stored(world)).toMatchObject({ kept: 3, staged: 0 });
  const small = await Promise.all(names.map((name) => upload(agent, `small ${name}`, large(name, 200 * 1024))));
  expect(statuses(small)).toEqual([201, 201, 409, 409, 409]);
  const { leadMagnets: t } = world.app.deps.db.read.t;
  const where = of === "agent" ? eq(t.activationId, agent.activationId) : undefined;
  const [row] = await world.app.deps.db.read
    .select({ bytes: sum(t.size).mapWith(Number) })
    .from(t)
    .where(where);
  expect(row?.bytes).toBeLessThanOrEqual(of === "agent" ? FILE_LIMITS.activationBytes : FILE_LIMITS.workspaceBytes);
  // Refused uploads left nothing.
  const { parts } = await stored(world);
  expect(parts).toBe(2 * Math.ceil(large("a", MB).length / PART_BYTES) + 2);
});

test("the number of files is counted exactly too, and the same bytes count for each agent that has them", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world);
  const { db, ids, clock } = world.app.deps;
  await db.tx(async (tx) => {
    const { workspaceId } = world;
    const { activationId } = agent;
    const one = { workspaceId, activationId, runId: null, sha256: "0".repeat(64), title: "", description: null, fileName: "a.pdf" };
    const rows = Array.from({ length: FILE_LIMITS.activationFiles - 1 }, () => ({
      ...one,
      id: ids("lm"),
      contentType: "application/pdf",
      size: 1,
      createdAt: clock.now(),
    }));
    await tx.insertAll(tx.t.leadMagnets, rows);
  });
  const same = large("same", 400 * 1024);
  expect(statuses(await Promise.all([upload(agent, "x", same), upload(agent, "y", same), upload(agent, "z", same)]))).toEqual([
    201, 409, 409,
  ]);
  await world.settle();
  expect(await stored(world)).toEqual({ kept: 1, staged: 0, parts: 2 });
});

test("concurrent uploads of the same bytes store them once", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world);
  const bytes = large("once", MB);
  const answers = await Promise.all([1, 2, 3].map((n) => upload(agent, `n${n}`, bytes)));
  expect(statuses(answers)).toEqual([201, 201, 201]);
  await world.settle();
  expect(await stored(world)).toEqual({ kept: 1, staged: 0, parts: Math.ceil(bytes.length / PART_BYTES) });
  for (const { body } of answers) expect(Buffer.from(await (await world.fetch(body.downloadUrl)).arrayBuffer()).equals(bytes)).toBe(true);
});

test("a file uploaded twice with one Idempotency-Key is stored once, without leftovers", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world);
  const bytes = large("twice", MB);
  const answers = await Promise.all([1, 2].map(() => upload(agent, "n", bytes, { "idempotency-key": "k" })));
  expect(answers[0]?.body).toEqual(answers[1]?.body);
  await world.settle();
  expect(await stored(world)).toEqual({ kept: 1, staged: 0, parts: Math.ceil(bytes.length / PART_BYTES) });
  expect((await world.sdk.leadMagnets.list()).data).toHaveLength(1);
});

test("sends succeed during an upload, and the file is invisible until it is complete", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world);
  const bytes = large("slow", 12 * MB);
  const parts = Math.ceil(bytes.length / PART_BYTES);
  const { stopped, goOn } = stopAfter(world, parts - 1);
  const uploading = upload(agent, "slow", bytes);
  await stopped;
  expect(await stored(world)).toEqual({ kept: 0, staged: 1, parts: parts - 1 });
  const sent = await world.sdk.emails.send({ from: "a@acme.test", to: "ada@example.com", subject: "Hello", text: "x" });
  expect(await world.sdk.emails.get(sent.id)).toMatchObject({ id: sent.id });
  expect((await world.sdk.leadMagnets.list()).data).toEqual([]);
  goOn();
  const { status, body } = await uploading;
  expect(status).toBe(201);
  expect(await stored(world)).toEqual({ kept: 1, staged: 0, parts });
  expect(Buffer.from(await (await world.fetch(body.downloadUrl)).arrayBuffer()).equals(bytes)).toBe(true);
});

test("no part of an upload blocks other writers: sends are answered throughout", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world);
  let uploading = true;
  const uploaded = upload(agent, "long", large("long", 12 * MB)).finally(() => {
    uploading = false;
  });
  let between = 0;
  while (uploading) {
    await world.sdk.emails.send({ from: "a@acme.test", to: "ada@example.com", subject: "Hello", text: "x" });
    if ((await stored(world)).staged === 1) between += 1;
  }
  expect((await uploaded).status).toBe(201);
  expect(between).toBeGreaterThan(3);
});

test("an upload whose connection breaks releases its quota at once and stores nothing", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world);
  await leave(world, agent, "agent", 3 * MB);
  const before = await stored(world);
  const { stopped, goOn } = stopAfter(world, 3);
  const connection = new AbortController();
  const form = new FormData();
  form.append("title", "broken");
  form.append("file", new Blob([Uint8Array.from(large("broken", 2 * MB))]), "broken.pdf");
  const uploading = world.fetch(world.url + agent.path("/lead-magnets"), {
    method: "POST",
    headers: { authorization: `Bearer ${agent.key}` },
    body: form,
    signal: connection.signal,
  });
  await stopped;
  expect((await stored(world)).staged).toBe(1);
  connection.abort();
  goOn();
  await uploading.catch(() => {});
  await world.settle();
  expect(await stored(world)).toEqual({ ...before, parts: 0 });
  expect((await upload(agent, "again", large("again", 2 * MB))).status).toBe(201);
});

test("an upload that fails midway releases its quota at once", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world);
  await leave(world, agent, "agent", 3 * MB);
  const before = await stored(world);
  const db = world.app.deps.db as { tx: <T>(fn: (tx: Tx) => Promise<T>) => Promise<T> };
  const { tx } = db;
  let parts = 0;
  db.tx = async (fn) => {
    if (String(fn).includes("fileParts") && ++parts === 4) throw new StorageUnavailable("The disk is full.");
    return tx(fn);
  };
  expect((await upload(agent, "unlucky", large("unlucky", 2 * MB))).status).toBe(503);
  db.tx = tx;
  await world.settle();
  expect(await stored(world)).toEqual({ ...before, parts: 0 });
  expect((await upload(agent, "again", large("again", 2 * MB))).status).toBe(201);
});

test("a file of the maximum size can be uploaded as JSON too", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world);
  const bytes = Buffer.alloc(FILE_LIMITS.leadMagnet, "x");
  bytes.write("%PDF-1.7\n");
  bytes.write("%%EOF", bytes.length - 5);
  const send = (content: Buffer) =>
    agent.call("POST", "/lead-magnets", { title: "Largest", fileName: "largest.pdf", contentBase64: content.toString("base64") });
  const { status, body } = await send(bytes);
  expect({ status, body }).toMatchObject({ status: 201, body: { size: FILE_LIMITS.leadMagnet } });
  expect(await send(Buffer.concat([bytes, Buffer.from("\n")]))).toMatchObject({
    status: 413,
    body: { error: { code: "payload_too_large" } },
  });
});

test("an upload whose server died is invisible and deleted an hour later", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world);
  const bytes = large("dead", 2 * MB);
  await leave(world, agent, "agent", 3 * MB);
  const before = await stored(world);
  // It never resumes, as if the process had died there.
  const { stopped } = stopAfter(world, 3);
  void upload(agent, "dead", bytes);
  await stopped;
  expect(await stored(world)).toEqual({ kept: before.kept, staged: 1, parts: 3 });
  expect((await world.sdk.leadMagnets.list()).data).toHaveLength(1);
  // Its quota is used until then.
  expect((await upload(agent, "again", large("again", 2 * MB))).status).toBe(409);
  await world.clock.advance("59m");
  expect((await stored(world)).staged).toBe(1);
  await world.clock.advance("2m");
  expect(await stored(world)).toEqual({ ...before, staged: 0, parts: 0 });
  const again = await upload(agent, "dead", bytes);
  expect(again.status).toBe(201);
  expect(Buffer.from(await (await world.fetch(again.body.downloadUrl)).arrayBuffer()).equals(bytes)).toBe(true);
});

test("an upload that continues after it was deleted stores nothing and asks to retry", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world);
  const { stopped, goOn } = stopAfter(world, 3);
  const uploading = upload(agent, "late", large("late", 2 * MB));
  await stopped;
  await world.clock.advance("2h");
  goOn();
  const { status, headers } = await uploading;
  expect([status, headers.get("retry-after")]).toEqual([503, "1"]);
  await world.settle();
  expect(await stored(world)).toEqual({ kept: 0, staged: 0, parts: 0 });
});

test("an agent that is paused during an upload stores nothing and uses no quota", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world);
  const { stopped, goOn } = stopAfter(world, 3);
  const uploading = upload(agent, "paused", large("paused", 2 * MB));
  await stopped;
  await world.sdk.activations.pause(agent.activationId);
  goOn();
  expect(await uploading).toMatchObject({ status: 403, body: { error: { code: "activation_paused" } } });
  await world.settle();
  expect(await stored(world)).toEqual({ kept: 0, staged: 0, parts: 0 });
});

test("deleting the last file with some bytes while they are uploaded again keeps them", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world);
  const bytes = large("shared", MB);
  for (let round = 0; round < 4; round += 1) {
    const { body } = await upload(agent, "first", bytes);
    const [, second] = await Promise.all([world.sdk.leadMagnets.delete(body.id), upload(agent, "second", bytes)]);
    await world.settle();
    expect(second.status).toBe(201);
    const served = await world.fetch(second.body.downloadUrl);
    expect([served.status, Buffer.from(await served.arrayBuffer()).equals(bytes)]).toEqual([200, true]);
    await world.sdk.leadMagnets.delete(second.body.id);
    await world.settle();
    expect(await stored(world)).toEqual({ kept: 0, staged: 0, parts: 0 });
  }
});

test("uploading a known image returns it, however large it is", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world);
  const bytes = Buffer.concat([png(9, 9), Buffer.alloc(MB)]);
  const send = () => agent.call("POST", "/assets", { fileName: "a.png", contentBase64: bytes.toString("base64") });
  const answers = await Promise.all([send(), send(), send()]);
  expect(statuses(answers)).toEqual([200, 200, 201]);
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  await world.settle();
  expect(await stored(world)).toEqual({ kept: 1, staged: 0, parts: Math.ceil(bytes.length / PART_BYTES) });
  const { assets: t } = world.app.deps.db.read.t;
  expect(await world.app.deps.db.read.$count(t, and(eq(t.activationId, agent.activationId)))).toBe(1);
});
