import { AddressError, type contract, type Key, type Page, type Permission, parseAnyMailbox, toDomain } from "@mailsvc/sdk/contract";
import { and, eq, isNotNull, isNull, ne } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { listPage, type PageInput } from "../db/pagination.ts";
import type { DeveloperKey } from "../http/auth.ts";
import type { Handlers } from "../http/handler.ts";
import { ApiError, invalid, notFound } from "../lib/api-error.ts";
import { type Clock, iso } from "../lib/clock.ts";
import type { Ids } from "../lib/ids.ts";
import { parseIpNetwork } from "../lib/ip-network.ts";
import type { Random } from "../lib/random.ts";
import type { KeyCache, KeyWatch } from "./key-cache.ts";
import type { KeyUse } from "./key-use.ts";
import { hashKey, makeKey, previewKey } from "./secret.ts";
import type { KeyTables } from "./tables.ts";

export { KeyCache, OPERATOR_KEY } from "./key-cache.ts";
export { hashKey, makeKey, previewKey } from "./secret.ts";

type Row = KeyTables["keys"]["$inferSelect"];

interface NewKey {
  name: string;
  permissions: Permission[];
  owner?: boolean;
  /** A test key: its mail is captured instead of sent. */
  test?: boolean | undefined;
  /** A key that exists already: a reset of dev mode keeps the keys. */
  key?: string;
  expiresAt?: string | undefined;
  senders?: readonly string[] | undefined;
  networks?: readonly string[] | undefined;
}

/** Dependencies for creating a key. */
interface KeyParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: KeyDeps["ids"];
  readonly config: { readonly dev: boolean };
  readonly keyCache: Pick<KeyCache, "clear">;
}

/** The name and the preview of keys, by their ids. */
export type KeyNames = ReadonlyMap<string, { readonly name: string; readonly preview: string }>;

/** The names of all keys of a workspace. */
export async function listKeyNames(read: Reader | Tx, workspaceId: string): Promise<KeyNames> {
  const { id, name, preview } = read.t.keys;
  const rows = await read.select({ id, name, preview }).from(read.t.keys).where(eq(read.t.keys.workspaceId, workspaceId));
  return new Map(rows.map((row) => [row.id, row]));
}

/** Creates a key. The key itself is in the result and nowhere else. */
export async function createKey(tx: Tx, deps: KeyParts, workspaceId: string, wanted: NewKey): Promise<Key & { key: string }> {
  const test = wanted.test ?? false;
  const limits = parseLimits(wanted, deps.clock.now());
  const key = wanted.key ?? makeKey(deps.random, test ? "test" : deps.config.dev ? "dev" : "live");
  const row: Row = {
    id: deps.ids("key"),
    workspaceId,
    name: wanted.name,
    permissions: [...new Set(wanted.permissions)],
    owner: wanted.owner ?? false,
    test,
    hash: hashKey(key),
    preview: previewKey(key),
    createdAt: deps.clock.now(),
    revokedAt: null,
    lastUsedAt: null,
    ...limits,
  };
  await tx.insert(tx.t.keys).values(row);
  // The cache may hold this hash as unknown.
  tx.afterCommit(() => deps.keyCache.clear());
  return { ...toKey(row, null, deps), key };
}

/** The name of a caller for histories: that of the person, or of the key. */
export function nameCaller({ name, person }: Pick<DeveloperKey, "name" | "person">): string {
  return person?.name ?? person?.email ?? (person === null ? `key ${name}` : `somebody signed in by key ${name}`);
}

/** Throws ApiError forbidden if a key would grant permissions that it does not have. */
export function assertMayGrant(granter: DeveloperKey, permissions: readonly Permission[]): void {
  if (granter.expiresAt !== null || granter.senders !== null || granter.networks !== null)
    throw new ApiError("forbidden", "A key that expires, or is limited to senders or networks, cannot create keys.", {
      details: [{ path: "", code: "limited_key", message: "the new key would not have its limits" }],
      hint: "Use a key without such limits, such as the owner key.",
    });
  const missing = granter.owner ? [] : permissions.filter((p) => !granter.permissions.has(p));
  if (missing.length === 0) return;
  throw new ApiError("forbidden", `This key cannot grant permissions it does not have: ${missing.join(", ")}.`, {
    details: missing.map((p) => ({ path: "permissions", code: "missing_permission", message: p })),
  });
}

/** A query for the ids of all keys of a workspace. */
export function selectKeyIds(q: Reader | Tx, workspaceId: string) {
  const { keys } = q.t;
  return q.select({ id: keys.id }).from(keys).where(eq(keys.workspaceId, workspaceId));
}

/** Renames a key. Throws ApiError not_found, or forbidden if the key can do more than `renamer`. */
async function renameKey(
  tx: Tx,
  deps: Pick<KeyDeps, "keyUse" | "clock">,
  renamer: DeveloperKey,
  { id, name }: Pick<Key, "id" | "name">,
): Promise<Key> {
  const { keys } = tx.t;
  const row = await getOwnRow(tx, renamer, id);
  assertMayChange("rename", renamer, row);
  await tx.update(keys).set({ name }).where(eq(keys.id, id));
  return toKey({ ...row, name }, deps.keyUse, deps);
}

/**
 * Revokes a key for good. Throws ApiError not_found, forbidden if the key can do more than `revoker`, or invalid_state for the
 * last owner key.
 */
async function revokeKey(tx: Tx, deps: KeyDeps, revoker: DeveloperKey, id: string): Promise<Key> {
  const { workspaceId } = revoker;
  const { keys } = tx.t;
  const row = await getOwnRow(tx, revoker, id);
  assertMayChange("revoke", revoker, row);
  if (row.revokedAt !== null) return toKey(row, deps.keyUse, deps);
  if (row.owner) {
    // Writing the workspace's row makes two revocations at once collide, each of which still sees the other's key.
    await tx.update(tx.t.workspaces).set({ id: workspaceId }).where(eq(tx.t.workspaces.id, workspaceId));
    const others = await tx.$count(
      keys,
      and(eq(keys.workspaceId, workspaceId), eq(keys.owner, true), isNull(keys.revokedAt), ne(keys.id, id)),
    );
    if (others === 0)
      throw new ApiError("invalid_state", "This is the last owner key of the workspace, which could not be managed without it.");
  }
  const revokedAt = deps.clock.now();
  await tx.update(keys).set({ revokedAt }).where(eq(keys.id, id));
  tx.afterCommit(() => {
    deps.keyCache.clear();
    deps.keyWatch.checkNow();
  });
  return toKey({ ...row, revokedAt }, deps.keyUse, deps);
}

/** The keys of a workspace, newest first. */
function listKeys(
  read: Reader,
  deps: Pick<KeyDeps, "keyUse" | "clock">,
  workspaceId: string,
  input: PageInput & { revoked?: boolean | undefined },
): Promise<Page<Key>> {
  const { keys } = read.t;
  const where = and(
    eq(keys.workspaceId, workspaceId),
    input.revoked === undefined ? undefined : input.revoked ? isNotNull(keys.revokedAt) : isNull(keys.revokedAt),
  );
  return listPage(read, input, { table: keys, where, toItem: (row) => toKey(row, deps.keyUse, deps) });
}

/** One key. Throws ApiError not_found. */
export async function getKey(read: Reader, deps: Pick<KeyDeps, "keyUse" | "clock">, id: string): Promise<Key> {
  const [row] = await findRows(read, read.t.keys, { id });
  if (!row) throw notFound("key", id);
  return toKey(row, deps.keyUse, deps);
}

/** A key of the workspace of another one. Throws ApiError not_found. */
async function getOwnRow(tx: Reader | Tx, { workspaceId }: DeveloperKey, id: string): Promise<Row> {
  const [row] = await findRows(tx, tx.t.keys, { workspaceId, id });
  if (!row) throw notFound("key", id);
  return row;
}

function toKey(row: Row, use: Pick<KeyUse, "find"> | null, { clock }: Pick<KeyDeps, "clock">): Key {
  const lastUsedAt = Math.max(row.lastUsedAt ?? 0, use?.find(row.id) ?? 0);
  const isExpired = row.expiresAt !== null && row.expiresAt <= clock.now();
  return {
    id: row.id,
    name: row.name,
    permissions: row.permissions,
    owner: row.owner,
    test: row.test,
    preview: row.preview,
    state: row.revokedAt !== null ? "revoked" : isExpired ? "expired" : "active",
    createdAt: iso(row.createdAt),
    revokedAt: row.revokedAt === null ? null : iso(row.revokedAt),
    lastUsedAt: lastUsedAt === 0 ? null : iso(lastUsedAt),
    expiresAt: row.expiresAt === null ? null : iso(row.expiresAt),
    senders: row.senders,
    networks: row.networks,
  };
}

/** Throws ApiError forbidden if a key can do more than the one that would change it: changing must not outrank creating. */
function assertMayChange(verb: "rename" | "revoke", changer: DeveloperKey, { id, owner, permissions }: Row): void {
  if (changer.owner || changer.id === id) return;
  const missing = permissions.filter((p) => !changer.permissions.has(p));
  if (!owner && missing.length === 0) return;
  throw new ApiError("forbidden", `This key cannot ${verb} a key that can do more than itself.`, {
    details: owner
      ? [{ path: "id", code: "owner_only", message: `Only an owner key can ${verb} an owner key.` }]
      : missing.map((p) => ({ path: "id", code: "missing_permission", message: p })),
  });
}

interface WantedLimits {
  readonly permissions: readonly Permission[];
  readonly expiresAt?: string | undefined;
  readonly senders?: readonly string[] | undefined;
  readonly networks?: readonly string[] | undefined;
}

/** Reads the limits of a new key. Throws ApiError validation_error that names the field. */
function parseLimits({ permissions, expiresAt, senders, networks }: WantedLimits, now: number) {
  const end = expiresAt === undefined ? null : Date.parse(expiresAt);
  if (end !== null && end <= now) throw invalid("expiresAt", "in_the_past", "A key must expire in the future.");
  networks?.forEach((text, i) => {
    if (parseIpNetwork(text) === null)
      throw invalid(`networks.${i}`, "invalid_network", "Write an address or a network such as 203.0.113.0/24 or 2001:db8::/32.");
  });
  const others = permissions.filter((one) => one !== "transactional:send" && !one.endsWith(":read"));
  if (senders !== undefined && others.length > 0)
    throw invalid(
      "permissions",
      "not_limitable",
      `A key that is limited to senders cannot have ${others.join(", ")}: they send in other ways.`,
    );
  return {
    expiresAt: end,
    senders: senders === undefined ? null : [...new Set(senders.map(toSender))],
    networks: networks === undefined ? null : [...new Set(networks)],
  };
}

/** True if mail from a mailbox is within a list of addresses and domains. */
export function isAllowedSender(senders: readonly string[], mailbox: string): boolean {
  const { key } = parseAnyMailbox(mailbox);
  return senders.includes(key) || senders.includes(key.slice(key.lastIndexOf("@") + 1));
}

/** The form in which addresses and domains are compared; a domain may be written as `@acme.example`. */
function toSender(text: string, i: number): string {
  const domain = text.trim().replace(/^@/, "");
  try {
    return domain.includes("@") ? parseAnyMailbox(text).key : toDomain(domain);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    throw invalid(`senders.${i}`, "invalid_sender", "Write an address such as hello@acme.example, or a domain such as acme.example.");
  }
}

export const keyHandlers: Handlers<typeof contract.keys, KeyDeps> = {
  list: (input, { read, deps, workspaceId }) => listKeys(read, deps, workspaceId, input),
  create: (input, { tx, deps, workspaceId, key }) => {
    assertMayGrant(key, input.permissions);
    return createKey(tx, deps, workspaceId, input);
  },
  get: async ({ id }, { read, deps, key }) => toKey(await getOwnRow(read, key, id), deps.keyUse, deps),
  update: ({ id, name }, { tx, deps, key }) => renameKey(tx, deps, key, { id, name }),
  revoke: ({ id }, { tx, deps, key }) => revokeKey(tx, deps, key, id),
};

export interface KeyDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly config: { readonly dev: boolean };
  readonly keyCache: Pick<KeyCache, "clear">;
  readonly keyUse: Pick<KeyUse, "find">;
  readonly keyWatch: Pick<KeyWatch, "checkNow">;
}
