import { hash } from "node:crypto";
import { and, eq, inArray, notExists, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { splitIntoChunks } from "../lib/parts.ts";
import { CHUNK_BYTES, waitForTurn } from "../lib/turn.ts";

/** Messages up to this size, in bytes, are stored whole. So is what is no longer within a larger one. */
export const WHOLE_BYTES = 64 * 1024;

const EMPTY_LINE = "\r\n\r\n";
const BOUNDARY = "\r\n--";

/** A part of a large message, and the hash that finds it. */
interface MessagePart {
  readonly hash: string;
  readonly bytes: Uint8Array;
}

/** A message as it is stored: the part in its own row, and those behind it, of which there are none in a small one. */
export interface CutMessage {
  readonly first: Uint8Array;
  readonly others: readonly MessagePart[];
}

/** The parts behind the first one of a captured mail. */
interface PartsOfMail {
  readonly mailId: string;
  readonly others: readonly MessagePart[];
}

/**
 * Cuts a message. The copies of a mail differ in their headers, and in their texts if links are tracked, but have the same files: so a
 * large one is cut at the begin and end of long bodies, and all copies share the parts of a file. No part is longer than a megabyte.
 */
export async function cutMessage(raw: Buffer): Promise<CutMessage> {
  if (raw.length <= WHOLE_BYTES) return { first: raw, others: [] };
  const [first = raw, ...others] = cutAt(raw, await findLongBodies(raw));
  const hashed: MessagePart[] = [];
  for (const bytes of others) {
    await waitForTurn();
    hashed.push({ hash: hash("sha256", bytes), bytes });
  }
  return { first, others: hashed };
}

/** Inserts the parts of new mails. A part that another mail already has is stored once. */
export async function insertParts(tx: Tx, mails: readonly PartsOfMail[]): Promise<void> {
  const all = mails.flatMap(({ mailId, others }) => others.map((part, i) => ({ ...part, mailId, part: i + 1 })));
  if (all.length === 0) return;
  const bytesOf = new Map(all.map((part) => [part.hash, part.bytes]));
  const stored = await claimParts(tx, [...bytesOf.keys()]);
  const added = [...bytesOf].filter(([key]) => !stored.has(key)).map(([key, bytes]) => ({ hash: key, bytes }));
  await tx.insertAll(tx.t.inboxBytes, added);
  await tx.insertAll(
    tx.t.inboxParts,
    all.map(({ mailId, part, hash: key }) => ({ mailId, part, hash: key })),
    { newKeys: true },
  );
}

/** Deletes the parts of deleted mails, unless other mails have them too. */
export async function deleteParts(tx: Tx, mailIds: readonly string[]): Promise<void> {
  const { inboxParts: t, inboxBytes } = tx.t;
  const hashes = new Set<string>();
  for (const chunk of splitIntoChunks(mailIds))
    for (const part of await tx.delete(t).where(inArray(t.mailId, chunk)).returning({ hash: t.hash })) hashes.add(part.hash);
  const ofOthers = tx.select({ hash: t.hash }).from(t).where(eq(t.hash, inboxBytes.hash));
  for (const chunk of splitIntoChunks([...hashes])) {
    await claimParts(tx, chunk);
    await tx.delete(inboxBytes).where(and(inArray(inboxBytes.hash, chunk), notExists(ofOthers)));
  }
}

/** A part of a mail by its number, from 1; null when the mail was deleted meanwhile. */
export async function findPart(read: Reader, mailId: string, part: number): Promise<Uint8Array | null> {
  const { inboxParts: t, inboxBytes } = read.t;
  const [found] = await read
    .select({ bytes: inboxBytes.bytes })
    .from(t)
    .innerJoin(inboxBytes, eq(inboxBytes.hash, t.hash))
    .where(and(eq(t.mailId, mailId), eq(t.part, part)));
  return found?.bytes ?? null;
}

/**
 * Finds the parts that exist, and makes this transaction collide with others that add these parts to a mail or delete them: none deletes a
 * part that another one has just found, or leaves a part whose last mail was deleted meanwhile.
 */
async function claimParts(tx: Tx, hashes: readonly string[]): Promise<Set<string>> {
  const { inboxBytes: t } = tx.t;
  const found = new Set<string>();
  for (const chunk of splitIntoChunks(hashes)) {
    for (const row of await tx.select({ hash: t.hash }).from(t).where(inArray(t.hash, chunk))) found.add(row.hash);
    await tx
      .update(t)
      .set({ hash: sql`${t.hash}` })
      .where(and(tx.sqlDialect.concurrent, inArray(t.hash, chunk)));
  }
  return found;
}

/** Returns the begin and end of long bodies: behind the empty line below the headers of a MIME part, and before the next boundary. */
async function findLongBodies(raw: Buffer): Promise<number[]> {
  const cuts: number[] = [];
  let turnEnd = CHUNK_BYTES;
  let body: number | null = null;
  for (let at = 0; at < raw.length; ) {
    if (at >= turnEnd) {
      turnEnd = at + CHUNK_BYTES;
      await waitForTurn();
    }
    const wanted: string = body === null ? EMPTY_LINE : BOUNDARY;
    const found: number = raw.subarray(at, at + CHUNK_BYTES).indexOf(wanted);
    // The wanted text may begin at the end of these bytes.
    if (found === -1) at += CHUNK_BYTES - wanted.length + 1;
    else if (body === null) {
      body = at + found + wanted.length;
      // The line end of the empty line may be that before a boundary.
      at = body - 2;
    } else {
      at += found;
      if (at - body > WHOLE_BYTES) cuts.push(body, at);
      body = null;
    }
  }
  if (body !== null && raw.length - body > WHOLE_BYTES) cuts.push(body);
  return cuts;
}

function cutAt(raw: Buffer, cuts: readonly number[]): Uint8Array[] {
  const parts: Uint8Array[] = [];
  let from = 0;
  for (const to of [...cuts, raw.length])
    while (from < to) {
      const part = raw.subarray(from, Math.min(from + CHUNK_BYTES, to));
      parts.push(part);
      from += part.length;
    }
  return parts;
}
