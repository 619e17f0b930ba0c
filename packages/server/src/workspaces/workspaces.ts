import { eq } from "drizzle-orm";
import type { Db, Reader, Tx } from "../db/db.ts";
import { UniqueViolation } from "../db/errors.ts";
import type { Deps } from "../deps.ts";
import { createKey } from "../keys/keys.ts";
import { makeKey } from "../keys/secret.ts";
import { notFound } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { makeKeyText, parseKey } from "../lib/key-file.ts";
import type { Random } from "../lib/random.ts";
import type { Seal } from "../lib/seal.ts";

export interface FirstWorkspace {
  workspaceId: string;
  /** The owner key: when it has just been made, or in dev mode. */
  apiKey: string | null;
}

export async function getWorkspace(read: Reader, id: string): Promise<{ id: string; name: string; createdAt: string }> {
  const [row] = await read.select().from(read.t.workspaces).where(eq(read.t.workspaces.id, id));
  if (!row) throw notFound("workspace", id);
  return { ...row, createdAt: iso(row.createdAt) };
}

export const DEV_KEY = "devKey";
export const FIRST = "firstWorkspace";

export async function fact(db: Db, name: string): Promise<string | null> {
  const { meta } = db.read.t;
  const [row] = await db.read.select().from(meta).where(eq(meta.name, name));
  return row?.value ?? null;
}

/** Under which a master key is kept among the facts, where it has no file of its own. */
export const MASTER_KEY = "masterKey";

/** The master key that is kept in the database, made when there is none; of several processes the first one makes it. */
export async function storedKey(db: Db, random: Random): Promise<Uint8Array> {
  const known = await fact(db, MASTER_KEY);
  if (known === null) {
    const made = { name: MASTER_KEY, value: makeKeyText(random) };
    await db.tx(async (tx) => void (await tx.insert(tx.t.meta).values(made).onConflictDoNothing()));
    return storedKey(db, random);
  }
  const key = parseKey(known);
  if (key === null) throw new Error("The master key in the database is damaged.");
  return key;
}

const SEAL_CHECK = "sealCheck";

/** Throws when the data was sealed under another master key: better now than at the first secret that does not open. */
export async function assertSeal(db: Db, seal: Seal): Promise<void> {
  const known = await fact(db, SEAL_CHECK);
  if (known !== null) {
    seal.open(Buffer.from(known, "base64"), SEAL_CHECK);
    return;
  }
  // Of several processes that start at once, the others check what the first one has written.
  const made = { name: SEAL_CHECK, value: Buffer.from(seal.seal("open", SEAL_CHECK)).toString("base64") };
  await db.tx(async (tx) => void (await tx.insert(tx.t.meta).values(made).onConflictDoNothing()));
  return assertSeal(db, seal);
}

/** Writes the first workspace and its owner key. Dev mode keeps the key readable, so that a restart can show it again. */
export async function seedWorkspace(tx: Tx, deps: Deps, apiKey: string, workspaceId: string = deps.ids("ws")): Promise<string> {
  await tx.insert(tx.t.workspaces).values({ id: workspaceId, name: deps.config.dev ? "dev" : "default", createdAt: deps.clock.now() });
  await createKey(tx, deps, workspaceId, { name: "owner", permissions: [], owner: true, key: apiKey });
  const facts = [{ name: FIRST, value: workspaceId }, ...(deps.config.dev ? [{ name: DEV_KEY, value: apiKey }] : [])];
  await tx.insert(tx.t.meta).values(facts);
  return workspaceId;
}

/** Makes the first workspace of an empty database; of another one, tells its id. */
export async function ensureWorkspace(deps: Deps): Promise<FirstWorkspace> {
  const workspaceId = await fact(deps.db, FIRST);
  if (workspaceId !== null) return { workspaceId, apiKey: deps.config.dev ? await fact(deps.db, DEV_KEY) : null };
  const apiKey = makeKey(deps.random);
  try {
    return { workspaceId: await deps.db.tx((tx) => seedWorkspace(tx, deps, apiKey)), apiKey };
  } catch (error) {
    // Another server process was first: its workspace is there now, and only that one has shown the key.
    if (error instanceof UniqueViolation) return ensureWorkspace(deps);
    throw error;
  }
}
