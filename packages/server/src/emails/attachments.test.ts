import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CHUNK_BYTES } from "../lib/turn.ts";
import { createWorld } from "../testing.ts";
import { decodeAttachments } from "./attachments.ts";

/** Bytes that differ from part to part. */
const bytesOf = (size: number): Buffer => Buffer.from(Uint8Array.from({ length: size }, (_, i) => (i * 7 + (i >> 12)) % 256));

const decode = async (content: string): Promise<string | undefined> => {
  const [file] = await decodeAttachments({ attachments: [{ filename: "a.bin", content }] });
  return file && Buffer.from(file.content).toString("hex");
};

describe("base64", () => {
  test("property: it is read as the platform reads it, or refused", async () => {
    const text = fc.oneof(
      fc.base64String(),
      fc.string(),
      fc.array(fc.constantFrom("A", "b", "9", "+", "/", "-", "_", "=", " ", "\n", "é", "☃")).map((all) => all.join("")),
      fc.uint8Array().map((bytes) => Buffer.from(bytes).toString("base64")),
    );
    await fc.assert(
      fc.asyncProperty(text, async (content) => {
        let expected: string | null = null;
        // The platform also accepts blanks and text without its padding.
        if (content.length % 4 === 0 && !/\s/.test(content)) {
          try {
            expected = Buffer.from(atob(content), "latin1").toString("hex");
          } catch {
            // Not base64.
          }
        }
        if (expected === null) await expect(decode(content)).rejects.toMatchObject({ code: "validation_error" });
        else expect(await decode(content)).toBe(expected);
      }),
    );
  });

  const long = bytesOf(3 * CHUNK_BYTES + 1);
  test("of megabytes is read, and refused wherever its fault is", async () => {
    const text = long.toString("base64");
    expect(await decode(text)).toBe(long.toString("hex"));
    for (const at of [0, CHUNK_BYTES - 1, CHUNK_BYTES, text.length - 5])
      for (const fault of ["=", "-", "_", " ", "\n", "é"])
        await expect(decode(`${text.slice(0, at)}${fault}${text.slice(at + 1)}`)).rejects.toThrow("attachments[0].content must be base64");
  });
});

describe("a file", () => {
  const send = { from: "a@acme.test", to: "ada@example.com", subject: "Files", text: "Hi" };
  for (const size of [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 2 * CHUNK_BYTES, 3 * CHUNK_BYTES + 5])
    test(`of ${size} bytes arrives unharmed among others`, async () => {
      await using world = await createWorld();
      const files = [bytesOf(size), Buffer.from("small"), bytesOf(size).reverse()];
      const attachments = files.map((content, i) => ({ filename: `${i}.bin`, content }));
      await world.sdk.emails.send({ ...send, attachments });
      const [mail] = await world.inbox.all();
      const raw = await world.sdk.inbox.raw(mail?.id ?? "");
      expect(raw.length).toBe(mail?.size);
      // Each is the base64 between an empty line and the next boundary.
      const found = raw.split(/\r\n--[^\r\n]+/).flatMap((part) => {
        const name = /filename="?(\d)\.bin/.exec(part)?.[1];
        return name === undefined ? [] : [[Number(name), Buffer.from(part.slice(part.indexOf("\r\n\r\n") + 4), "base64")] as const];
      });
      expect(found.map(([i]) => i)).toEqual([0, 1, 2]);
      for (const [i, bytes] of found) expect(bytes.equals(files[i] as Buffer)).toBe(true);
    });

  test("that is stored whole, as before there were parts, is read as well, and so is its mail", async () => {
    await using world = await createWorld();
    const { db } = world.app.deps;
    const content = bytesOf(2 * CHUNK_BYTES);
    await world.sdk.emails.send({ ...send, attachments: [{ filename: "a.bin", content }], scheduledAt: "2026-02-01T00:00:00Z" });
    await db.tx(async (tx) => {
      await tx.update(tx.t.attachments).set({ content });
      await tx.delete(tx.t.attachmentParts);
    });
    await world.clock.advance("60d");
    const [mail] = await world.inbox.all();
    const id = mail?.id ?? "";
    const raw = await world.sdk.inbox.raw(id);
    expect(raw.replaceAll("\r\n", "")).toContain(content.toString("base64"));
    expect(await db.read.$count(db.read.t.inboxParts)).toBeGreaterThan(0);
    await db.tx(async (tx) => {
      await tx.update(tx.t.inbox).set({ raw: Buffer.from(raw, "latin1") });
      await tx.delete(tx.t.inboxParts);
    });
    expect(await world.sdk.inbox.raw(id)).toBe(raw);
    await world.sdk.inbox.clear();
    await expect(world.sdk.inbox.raw(id)).rejects.toMatchObject({ code: "not_found" });
  });

  test("leaves with the captured mail when the inbox is cleared", async () => {
    await using world = await createWorld();
    const { read } = world.app.deps.db;
    await world.sdk.emails.send({ ...send, attachments: [{ filename: "a.bin", content: bytesOf(2 * CHUNK_BYTES) }] });
    expect(await world.inbox.all()).toHaveLength(1);
    // The file in three parts, as base64, and what follows it.
    expect(await read.$count(read.t.inboxParts)).toBe(4);
    await world.sdk.inbox.clear();
    expect(await read.$count(read.t.inboxParts)).toBe(0);
    expect(await read.$count(read.t.inboxBytes)).toBe(0);
  });
});
