import { eq } from "drizzle-orm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hostileMails } from "../../test/hostile-mails.ts";
import type { Db } from "../db/db.ts";
import { CHUNK_BYTES } from "../lib/turn.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { cutMessage, deleteParts, insertParts, WHOLE_BYTES } from "./parts.ts";

const CRLF = "\r\n";
const hello = { from: "a@acme.test", subject: "Report", text: "Attached." };
const FILE = Buffer.from(Uint8Array.from({ length: 2_500_000 }, (_, i) => (i * 7 + (i >> 12)) % 256));
const report = { filename: "report.bin", content: FILE };
const PEOPLE = ["ada@example.com", "bob@example.com", "cid@example.com"];

/** Number of bytes that are stored of captured mail, besides those in its own rows. */
async function storedBytes({ app }: TestWorld): Promise<number> {
  const { read } = app.deps.db;
  return (await read.select().from(read.t.inboxBytes)).reduce((sum, { bytes }) => sum + bytes.length, 0);
}

/** The file in the source of a mail. */
const fileIn = (raw: string): Buffer => {
  const [, head = ""] = raw.split(/filename="?report/);
  return Buffer.from(head.slice(head.indexOf(CRLF + CRLF) + 4).split(`${CRLF}--`)[0] ?? "", "base64");
};

describe("a file that goes to several people", () => {
  for (const [how, send] of [
    ["one mail for each", { to: PEOPLE }],
    ["one mail to all", { to: PEOPLE, together: true as const }],
    ["links that are tracked", { to: PEOPLE, html: '<a href="https://acme.test/x">x</a>', tracking: { clicks: true } }],
  ] as const)
    test(`is stored once: ${how}`, async () => {
      await using world = await createWorld();
      await world.sdk.emails.send({ ...hello, ...send, attachments: [report] });
      const mails = await world.inbox.all();
      expect(mails).toHaveLength(3);
      expect(await storedBytes(world)).toBeLessThan(FILE.length * 1.5);
      for (const { id, to, size } of mails) {
        const raw = await world.sdk.inbox.raw(id);
        expect(raw).toHaveLength(size);
        expect(fileIn(raw).equals(FILE)).toBe(true);
        const { headers, attachments } = await world.inbox.get(id);
        expect(headers.find(({ name }) => name === "To")?.value).toContain(to);
        expect(attachments).toMatchObject([{ filename: "report.bin", size: FILE.length }]);
      }
    });

  test("stays until the last of their mails is deleted", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    await sdk.emails.send({ ...hello, to: PEOPLE, attachments: [report] });
    // Another send of the same file, in which it begins elsewhere.
    await sdk.emails.send({ ...hello, text: "Once more, as you asked.", to: "dan@example.com", attachments: [report] });
    const stored = await storedBytes(world);
    expect(stored).toBeLessThan(FILE.length * 1.5);
    const [dan, ...others] = (await world.inbox.all()).toSorted((one, other) => (one.to < other.to ? 1 : -1));
    for (const { id } of others) await sdk.inbox.delete(id);
    expect(await storedBytes(world)).toBeGreaterThan(FILE.length);
    expect(fileIn(await sdk.inbox.raw(dan?.id ?? "")).equals(FILE)).toBe(true);
    await sdk.people.erase("dan@example.com");
    expect(await storedBytes(world)).toBe(0);
  });

  test("is gone when the inbox is cleared, and can come again", async () => {
    await using world = await createWorld();
    for (let i = 0; i < 2; i += 1) {
      await world.sdk.emails.send({ ...hello, to: PEOPLE, attachments: [report] });
      await world.settle();
      expect(await storedBytes(world)).toBeGreaterThan(FILE.length);
      expect(await world.sdk.inbox.clear()).toEqual({ deleted: 3 });
      expect(await storedBytes(world)).toBe(0);
    }
  });
});

test("a small mail is stored whole", async () => {
  await using world = await createWorld();
  await world.sdk.emails.send({ ...hello, to: PEOPLE, attachments: [{ filename: "a.bin", content: FILE.subarray(0, 40_000) }] });
  expect(await world.inbox.all()).toHaveLength(3);
  expect(await storedBytes(world)).toBe(0);
});

describe("a message that is cut", () => {
  const joined = ({ first, others }: Awaited<ReturnType<typeof cutMessage>>): Buffer =>
    Buffer.concat([first, ...others.map(({ bytes }) => bytes)]);

  for (const [name, make] of Object.entries(hostileMails))
    test(`is the same when it is joined: ${name}`, async () => {
      const raw = make();
      const cut = await cutMessage(raw);
      expect(joined(cut).equals(raw)).toBe(true);
      expect([cut.first, ...cut.others.map(({ bytes }) => bytes)].filter(({ length }) => length > CHUNK_BYTES)).toEqual([]);
    });

  test("property: it is the same when it is joined, and long bodies begin and end with a part", async () => {
    const size = fc.oneof(fc.integer({ min: 0, max: 200 }), fc.integer({ min: WHOLE_BYTES + 1, max: 2 * CHUNK_BYTES + 1 }));
    await fc.assert(
      fc.asyncProperty(fc.array(size, { minLength: 1, maxLength: 5 }), fc.nat(2000), async (sizes, shift) => {
        const bodies = sizes.map((length, i) => Buffer.alloc(length, `${i}`));
        const parts = bodies.map((body) => [Buffer.from(`${CRLF}--b${CRLF}X: y${CRLF}${CRLF}`), body]);
        const raw = Buffer.concat([Buffer.from(`X: ${"x".repeat(shift)}${CRLF}`), ...parts.flat(), Buffer.from(`${CRLF}--b--${CRLF}`)]);
        const cut = await cutMessage(raw);
        expect(joined(cut).equals(raw)).toBe(true);
        const pieces = cut.others.map(({ bytes }) => Buffer.from(bytes));
        for (const body of bodies) {
          const first = body.subarray(0, CHUNK_BYTES);
          if (body.length > WHOLE_BYTES) expect(pieces.some((piece) => piece.equals(first))).toBe(true);
        }
      }),
      { numRuns: 20 },
    );
  });
});

test("mails that come and go at the same time leave each other's parts, and none behind", async () => {
  await using world = await createWorld();
  const { db } = world.app.deps;
  const { others } = await cutMessage(Buffer.concat([Buffer.from(CRLF + CRLF), Buffer.alloc(WHOLE_BYTES + 1, "x")]));
  const add = (mailId: string): Promise<void> => db.tx((tx) => insertParts(tx, [{ mailId, others }]));
  const remove = (mailId: string): Promise<void> => db.tx((tx) => deleteParts(tx, [mailId]));
  const count = (source: Db): Promise<number> => source.read.$count(source.read.t.inboxBytes);
  for (let i = 0; i < 20; i += 1) {
    await add("one");
    await Promise.all([add("two"), remove("one"), add("three")]);
    expect(await count(db)).toBe(1);
    await Promise.all([remove("two"), remove("three")]);
    expect(await count(db)).toBe(0);
  }
  const { inboxParts } = db.read.t;
  expect(await db.read.select().from(inboxParts).where(eq(inboxParts.part, 1))).toEqual([]);
});
