import { hash } from "node:crypto";
import { and, eq } from "drizzle-orm";
import type { Db, Tx } from "../db/db.ts";
import { UniqueViolation } from "../db/errors.ts";
import { findFact, writeMissingFact } from "../db/facts.ts";
import { hashKey, makeKey, OPERATOR_KEY } from "../keys/keys.ts";
import { KeyMissing, makeKeyText } from "../lib/key-file.ts";
import { KeyRing, type MasterKeys, parseKeys } from "../lib/master-keys.ts";
import { type Random, secureRandom } from "../lib/random.ts";
import { makeRingSeal, type Seal, SealBroken } from "../lib/seal.ts";
import { createWorkspace, FIRST_WORKSPACE, nameUnnamed, UNNAMED_WORKSPACE, type WorkspaceDeps } from "../workspaces/workspaces.ts";
import type { Installation, Profile, WorkspaceAccess } from "./access.ts";
import type { FirstKeyStore } from "./first-keys.ts";
import type { KeyStore } from "./key-rotation.ts";

export { describeHolder, findMove, HOLDER, markMovedAway, markRestored } from "./holder.ts";
export type { Installation };

type Fact = typeof FIRST_WORKSPACE | "installation" | "devCredentials" | "masterKey" | "sealCheck" | typeof OPERATOR_KEY;

/** The fact that holds the master key, on databases that have no file next to them. */
export const MASTER_KEY: Fact = "masterKey";

/** The fact that names the installation: its data keeps it wherever it is moved or restored. */
const INSTALLATION: Fact = "installation";

const DEV_CREDENTIALS: Fact = "devCredentials";
/** The fact that tells whether a master key is the one the data was sealed with. */
export const SEAL_CHECK: Fact = "sealCheck";

/** Keys that dev mode keeps readable, so that each start can print them. */
interface DevCredentials {
  readonly operatorKey: string;
  readonly profiles: Record<Profile, WorkspaceAccess>;
}

/**
 * Creates the workspaces and keys of an empty database, or reads them. Keys that an earlier start of this installation saved in `store`
 * and did not show are known again; an empty database never takes keys that are there.
 */
export async function ensureInstallation(deps: InstallationDeps, store: FirstKeyStore | null = null): Promise<Installation> {
  const workspaceId = await readFact(deps.db, FIRST_WORKSPACE);
  if (workspaceId !== null) {
    await nameWorkspace(deps, workspaceId);
    return readInstallation(deps, workspaceId, store);
  }
  try {
    return await deps.db.tx(async (tx) => {
      const created = await seedInstallation(tx, deps, null);
      const { apiKey, operatorKey } = created;
      if (apiKey !== null && operatorKey !== null)
        store?.save({ installation: nameInstallation(operatorKey), workspaceId: created.workspaceId, apiKey, operatorKey });
      return created;
    });
  } catch (error) {
    // Another server process was faster; only that one knows the keys.
    if (error instanceof UniqueViolation) return ensureInstallation(deps, store);
    throw error;
  }
}

/** True if an earlier start has written the first workspaces. */
export async function isInstalled(db: Db): Promise<boolean> {
  return (await readFact(db, FIRST_WORKSPACE)) !== null;
}

/** True if an earlier start in production mode has written the first workspaces: the keys of dev mode are not there. */
export async function isOfProduction(db: Db): Promise<boolean> {
  const { meta } = db.read.t;
  return areOfProduction(new Set((await db.read.select({ name: meta.name }).from(meta)).map(({ name }) => name)));
}

/** The same, by the names of all facts that a database holds. */
export function areOfProduction(facts: ReadonlySet<string>): boolean {
  return facts.has(FIRST_WORKSPACE) && !facts.has(DEV_CREDENTIALS);
}

/** Deletes all data with `empty` and writes the first workspaces again, with the ids and keys they had. */
export async function resetInstallation(deps: InstallationDeps, empty: () => Promise<void>): Promise<void> {
  const { db } = deps;
  const before = await ensureInstallation(deps);
  const masterKey = await readFact(db, MASTER_KEY);
  await empty();
  await db.tx(async (tx) => {
    await seedInstallation(tx, deps, before);
    // Secrets that were sealed in memory or in a backup stay readable.
    if (masterKey !== null) await insertFact(tx, MASTER_KEY, masterKey);
  });
}

/**
 * Returns the master key in the database. If there is none, creates one in a database that `isNew` (the first of several processes does),
 * and throws KeyMissing for any other.
 */
export async function ensureMasterKeys(db: Db, random: Random, isNew: boolean): Promise<MasterKeys> {
  const text = await readFact(db, MASTER_KEY);
  if (text === null) {
    if (!isNew) throw new KeyMissing("The data was encrypted with a key that is not in the database. Pass it with --secret-key.");
    await db.tx((tx) => writeMissingFact(tx, MASTER_KEY, makeKeyText(random)));
    return ensureMasterKeys(db, random, isNew);
  }
  const keys = parseKeys(text);
  if (keys === null) throw new KeyMissing("The master key in the database is damaged. Restore a backup.");
  return keys;
}

/** The keys in a database, to read and to replace. */
export function factKeyStore(db: Db): KeyStore {
  return {
    read: () => readFact(db, MASTER_KEY),
    replace: (before, after) =>
      db.tx(async (tx) => {
        const { meta } = tx.t;
        const changed = await tx
          .update(meta)
          .set({ value: after })
          .where(and(eq(meta.name, MASTER_KEY), eq(meta.value, before)))
          .returning({ name: meta.name });
        return changed.length > 0;
      }),
  };
}

/** True if the data was sealed with a master key. */
export async function isSealed(db: Db): Promise<boolean> {
  return (await readFact(db, SEAL_CHECK)) !== null;
}

/** True if one of the master keys is the one that data was sealed with, by the check that it holds. */
export function isSealedWith(check: string, keys: MasterKeys): boolean {
  try {
    makeRingSeal(new KeyRing(keys), secureRandom()).open(Buffer.from(check, "base64"), SEAL_CHECK);
    return true;
  } catch (error) {
    if (error instanceof SealBroken) return false;
    throw error;
  }
}

/** Throws if the data was sealed with another master key: better at the start than at the first secret that cannot be opened. */
export async function assertSeal(db: Db, seal: Seal): Promise<void> {
  const known = await readFact(db, SEAL_CHECK);
  if (known !== null) {
    seal.open(Buffer.from(known, "base64"), SEAL_CHECK);
    return;
  }
  await db.tx((tx) => writeMissingFact(tx, SEAL_CHECK, Buffer.from(seal.seal("open", SEAL_CHECK)).toString("base64")));
  // Read again: of several processes that start at once, the first one's check stays.
  return assertSeal(db, seal);
}

/**
 * Writes the first workspace, its owner key and the operator key; in dev mode the builder's workspace too. `before` keeps
 * the ids and keys of an installation whose rows were deleted.
 */
async function seedInstallation(tx: Tx, deps: InstallationDeps, before: Installation | null): Promise<Installation> {
  const { config, random } = deps;
  const known = { id: before?.workspaceId, apiKey: before?.apiKey ?? undefined };
  const { id, apiKey } = await createWorkspace(tx, deps, { name: config.dev ? "brand" : (config.name ?? UNNAMED_WORKSPACE), ...known });
  const operatorKey = before?.operatorKey ?? makeKey(random, "op");
  await insertFact(tx, FIRST_WORKSPACE, id);
  await insertFact(tx, OPERATOR_KEY, hashKey(operatorKey));
  await insertFact(tx, INSTALLATION, nameInstallation(operatorKey));
  const brand = { workspaceId: id, apiKey };
  if (!config.dev) return { ...brand, operatorKey, profiles: null };
  const other = before?.profiles?.builder;
  const created = await createWorkspace(tx, deps, { name: "builder", id: other?.workspaceId, apiKey: other?.apiKey });
  const profiles = { brand, builder: { workspaceId: created.id, apiKey: created.apiKey } };
  const credentials: DevCredentials = { operatorKey, profiles };
  await insertFact(tx, DEV_CREDENTIALS, JSON.stringify(credentials));
  return { ...brand, operatorKey, profiles };
}

/** The name of an installation, as random as its first operator key, which it does not reveal. */
function nameInstallation(operatorKey: string): string {
  return hash("sha256", `mailsvc installation ${operatorKey}`).slice(0, 32);
}

/** Gives the first workspace the name of --name, unless somebody has named it already. */
async function nameWorkspace({ config, db }: InstallationDeps, workspaceId: string): Promise<void> {
  const { name } = config;
  if (name === null) return;
  await db.tx((tx) => nameUnnamed(tx, workspaceId, name));
}

async function readInstallation({ config, db }: InstallationDeps, workspaceId: string, store: FirstKeyStore | null): Promise<Installation> {
  const credentials = config.dev ? await readFact(db, DEV_CREDENTIALS) : null;
  if (credentials === null) {
    const name = store && (await readFact(db, INSTALLATION));
    const saved = name == null ? null : store?.load(name);
    // The operator key may have been replaced since.
    const valid = saved != null && hashKey(saved.operatorKey) === (await readFact(db, OPERATOR_KEY));
    const { apiKey, operatorKey } = valid ? saved : { apiKey: null, operatorKey: null };
    return { workspaceId, apiKey, operatorKey, profiles: null };
  }
  const { operatorKey, profiles } = JSON.parse(credentials) as DevCredentials;
  return { workspaceId, apiKey: profiles.brand.apiKey, operatorKey, profiles };
}

function readFact(db: Db, name: Fact): Promise<string | null> {
  return findFact(db.read, name);
}

/** Throws UniqueViolation if the fact is there. */
async function insertFact(tx: Tx, name: Fact, value: string): Promise<void> {
  await tx.insert(tx.t.meta).values({ name, value });
}

export interface InstallationDeps extends WorkspaceDeps {
  readonly db: Db;
  readonly config: WorkspaceDeps["config"] & { readonly name: string | null };
}
