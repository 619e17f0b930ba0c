import { expect, test } from "vitest";
import { createWorld } from "../testing.ts";
import { deleteAnswers, findAnswerCopies } from "./copies.ts";

test("an answer that spells an address in another case goes with the person, those that name nobody stay", async () => {
  await using world = await createWorld();
  const send = (to: string[], key: string): Promise<Response> =>
    world.fetch(`${world.url}/api/v1/send`, {
      method: "POST",
      headers: { authorization: `Bearer ${world.apiKey}`, "content-type": "application/json", "idempotency-key": key },
      body: JSON.stringify({ from: "a@acme.test", to, subject: "Hello", text: "x" }),
    });
  const isReplayed = async (to: string[], key: string): Promise<boolean> =>
    (await send(to, key)).headers.get("idempotency-replayed") === "true";
  await world.sdk.suppressions.create({ email: "ada@example.com" });
  const both = ["Ada@example.com", "bob@example.com"];
  expect(await (await send(both, "one")).text()).toContain("Ada@example.com");
  await send(["bob@example.com"], "other");
  expect(await isReplayed(both, "one")).toBe(true);
  expect(await world.sdk.people.erase("ada@example.com")).toMatchObject({ emails: 0 });
  expect(await isReplayed(both, "one")).toBe(false);
  expect(await isReplayed(["bob@example.com"], "other")).toBe(true);
});

test("all answers of a workspace are searched, some at a time; those that are committed meanwhile are found at the end", async () => {
  await using world = await createWorld();
  const { db, clock } = world.app.deps;
  const start = clock.now();
  const { keys, idempotency } = db.read.t;
  const [key] = await db.read.select({ id: keys.id }).from(keys);
  const toRow = (n: number, createdAt: number) => ({
    ...{ keyId: key?.id ?? "", route: `POST /x${n % 3}`, idempotencyKey: `k${n}`, requestHash: "h", status: 200, createdAt },
    answer: JSON.stringify({ to: n % 100 === 0 ? 'A "D" A@example.com' : "bob@example.com" }),
  });
  const insert = (rows: ReturnType<typeof toRow>[]): Promise<void> => db.tx((tx) => tx.insertAll(tx.t.idempotency, rows));
  await insert(Array.from({ length: 1700 }, (_, n) => toRow(n, start - 1)));
  const texts = ['a "d" a@example.com'];
  let turns = 0;
  let isOver = false;
  const countTurns = (): void => {
    turns += 1;
    if (!isOver) setImmediate(countTurns);
  };
  setImmediate(countTurns);
  const found = await findAnswerCopies(db.read, world.workspaceId, texts, start);
  isOver = true;
  expect(found.keys).toHaveLength(17);
  expect(turns).toBeGreaterThanOrEqual(3);
  // The second one got its time before the search began.
  await insert([toRow(1800, start + 1), toRow(1900, start - 1), toRow(1801, start + 1)]);
  expect(await db.tx((tx) => deleteAnswers(tx, world.workspaceId, found, texts))).toBe(19);
  expect(await db.read.$count(idempotency)).toBe(1684);
});
