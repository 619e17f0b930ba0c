import { expect, test } from "vitest";
import { createTestAgent, pdf } from "../../test/agent.ts";
import { loseAnswer } from "../../test/lose-answer.ts";
import { ask } from "../../test/scenario.ts";
import type { Reader, Tx } from "../db/db.ts";
import { PART_BYTES } from "../marketplace/files/contents.ts";
import { createWorld, type TestWorld } from "../testing.ts";

/* The connection to the database breaks after COMMIT: the caller learns that it is unknown whether the request took effect. */

const email = (to: string) => ({ from: "hello@acme.test", to, subject: "Hello", text: "It works." });

type Table = "emails" | "contacts" | "leadMagnets";

const countRows = (q: Tx | Reader, table: Table): Promise<number> => Promise.resolve(q.$count(q.t[table]));

const loseAnswerOf = (world: TestWorld, table: Table) => loseAnswer(world, async (q) => (await countRows(q, table)) > 0);

const requests = [
  ["a send", { path: "/api/v1/send", body: email("a@example.com") }, "emails", 1],
  ["a batch", { path: "/api/v1/send/batch", body: { emails: [email("a@example.com"), email("b@example.com")] } }, "emails", 2],
  ["an import of contacts", { path: "/api/v1/contacts/import", body: { rows: [{ email: "a@example.com" }] } }, "contacts", 1],
  ["a contact", { path: "/api/v1/contacts", body: { email: "a@example.com" } }, "contacts", 1],
] as const;

test.each(requests)(
  "%s whose commit lost its answer is a 503, and its repetition with the same key tells what was stored",
  async (_what, request, table, rows) => {
    await using world = await createWorld();
    const lost = loseAnswerOf(world, table);
    const headers = { "idempotency-key": "once" };
    const first = await ask(world, { ...request, headers });
    expect([first.status, lost.isLost]).toEqual([503, true]);
    expect(await first.json()).toMatchObject({ error: { code: "storage_unavailable" } });
    const second = await ask(world, { ...request, headers });
    expect(second.status).toBeLessThan(300);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(await countRows(world.app.deps.db.read, table)).toBe(rows);
  },
);

test("a send without a key whose commit lost its answer is a 503, and its mail leaves", async () => {
  await using world = await createWorld();
  const lost = loseAnswerOf(world, "emails");
  const { status } = await ask(world, { path: "/api/v1/send", body: email("a@example.com") });
  expect([status, lost.isLost]).toEqual([503, true]);
  await world.sdk.emails.send(email("b@example.com"));
  await world.settle();
  expect((await world.sdk.emails.list({ status: "delivered" })).pagination.total).toBe(2);
});

test("the bytes of a large file whose commit lost its answer are kept", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world);
  const bytes = pdf("x".repeat(3 * PART_BYTES));
  const upload = () => {
    const form = new FormData();
    form.append("title", "large");
    form.append("file", new Blob([Uint8Array.from(bytes)]), "large.pdf");
    return agent.call("POST", "/lead-magnets", form, { "idempotency-key": "once" });
  };
  const lost = loseAnswerOf(world, "leadMagnets");
  expect([(await upload()).status, lost.isLost]).toEqual([503, true]);
  expect((await upload()).status).toBe(201);
  expect(await countRows(world.app.deps.db.read, "leadMagnets")).toBe(1);
  await world.clock.advance("1d");
  const { fileParts } = world.app.deps.db.read.t;
  expect(await world.app.deps.db.read.$count(fileParts)).toBe(Math.ceil(bytes.length / PART_BYTES));
});
