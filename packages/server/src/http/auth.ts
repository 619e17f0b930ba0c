import type { AgentScope, Endpoint, Permission } from "@mailsvc/sdk/contract";
import type { Reader, Tx } from "../db/db.ts";
import { ApiError } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import type { IpNetwork } from "../lib/ip-network.ts";
import type { HeaderReader } from "./headers.ts";

/** The person behind a session; without name and address for one who came by a key or a link that names nobody. */
interface SessionPerson {
  readonly name: string | null;
  readonly email: string | null;
  readonly memberId: string | null;
}

/** A developer key, revoked or not; or the rights of a session, which are those of its key as far as the role lets it. */
export interface DeveloperKey {
  readonly id: string;
  readonly name: string;
  /** The person of a session; null for a program that calls with the key. */
  readonly person: SessionPerson | null;
  readonly workspaceId: string;
  readonly owner: boolean;
  /** True for a test key: its mail is captured instead of sent. */
  readonly test: boolean;
  readonly permissions: ReadonlySet<Permission>;
  readonly revokedAt: number | null;
  /** The instant from which it is refused, ms; null for none. */
  readonly expiresAt: number | null;
  /** Addresses and domains that it may send from; null for all. */
  readonly senders: readonly string[] | null;
  /** Networks that it may be used from; null for all. */
  readonly networks: readonly IpNetwork[] | null;
}

/** The key of an activation that is on. */
export interface AgentKey {
  readonly activationId: string;
  readonly listingId: string;
  /** The brand's workspace. */
  readonly workspaceId: string;
  readonly scopes: ReadonlySet<AgentScope>;
}

type KeyKind = "developer" | "operator" | "agent";

/** Looks keys up. Features implement it (`features.ts`), so that this module knows neither developer keys nor activations. */
export interface KeyLookup {
  /** The key of a request of an API that sends it otherwise than as a bearer; null if it names none. */
  readonly readKey?: (headers: HeaderReader) => string | null;
  /** The time, ms. */
  now(): number;
  /** Notes that a developer key was used; written later. */
  noteUse(id: string): void;
  /** The kind of a well-formed key; null when its shape or its checksum is wrong. Asks no database. */
  parseKind(key: string): KeyKind | null;
  /** The hash under which a key is stored. */
  hash(key: string): string;
  /** The cached developer key; null when there is none, undefined when the cache does not know. */
  getCached(hash: string): DeveloperKey | null | undefined;
  /** Reads a developer key from the database and caches it. */
  findDeveloperKey(hash: string): Promise<DeveloperKey | null>;
  isOperatorKey(hash: string): Promise<boolean>;
  /** The agent's key, read each time, so that a pause counts at once. Throws ApiError key_revoked or activation_paused. */
  admitAgent(q: Reader | Tx, hash: string): Promise<AgentKey | null>;
  /** A signal that aborts once a developer key is revoked, here or by another process; it is watched until `until` aborts. */
  watchKey(hash: string, until: AbortSignal): AbortSignal;
  /** True if an agent's key with this hash was ever made, whatever its state. */
  agentKeyExists(hash: string): Promise<boolean>;
}

/** A request that may come from a browser that has signed in. */
export interface BrowserRequest {
  readonly method: string;
  readonly headers: HeaderReader;
  /** The IP address of the peer; undefined in process. */
  readonly remoteAddress: string | undefined;
}

/** An admitted browser: the key of its session, limited to what its role may do. */
export interface AdmittedSession {
  readonly key: DeveloperKey;
  /** True if the person has also given the operator key. */
  readonly hasShownOperatorKey: () => Promise<boolean>;
  /** Throws ApiError unauthorized when the session has ended meanwhile. */
  readonly recheck: () => Promise<void>;
  /** A signal that aborts once the session ends or its key is revoked; it is watched until `until` aborts. */
  readonly watch: (until: AbortSignal) => AbortSignal;
}

/** Looks up the sessions of browsers. `features.ts` connects it, so that this module does not know the dashboard. */
export interface SessionLookup {
  /** The session of a request without a key; null if it names none. Throws ApiError unauthorized, or forbidden for another site's write. */
  admit(request: BrowserRequest): Promise<AdmittedSession | null>;
  /** True if a request without a key is the operator's; false when it names no session. Throws as `admit` does, and for other sessions. */
  admitOperator(request: BrowserRequest): Promise<boolean>;
}

/** Runs a lookup whose refusal counts against the key: gives its result, or throws rate_limited. */
export type CountRefusals = <T>(hash: string, lookUp: () => Promise<T>) => Promise<T>;

/** An admitted developer key, and the hash under which it is watched and checked again. */
interface AdmittedDeveloper {
  readonly hash: string;
  readonly key: DeveloperKey;
}

/** An admitted agent, and the hash of its key, with which the key is checked again inside a write's transaction. */
interface AdmittedAgent extends AgentKey {
  readonly hash: string;
}

const UNKNOWN = "Invalid API key.";
const MALFORMED = "Malformed API key. It may be cut off or mistyped.";

/**
 * Authenticates a request by its developer key. Throws ApiError unauthorized, key_revoked, key_expired or rate_limited; forbidden
 * for another kind of key.
 */
export async function authenticateDeveloper(
  headers: HeaderReader,
  keys: KeyLookup,
  countRefusals: CountRefusals,
): Promise<AdmittedDeveloper> {
  const key = parseKey(headers, keys);
  const hash = keys.hash(key);
  const cached = keys.getCached(hash);
  if (cached !== undefined) return { hash, key: assertLive(cached, keys.now()) };
  // A mistyped key costs no database read.
  const kind = keys.parseKind(key) ?? refuse(MALFORMED);
  if (kind === "developer") return { hash, key: await confirmDeveloper(keys, hash) };
  return countRefusals(hash, () => refuseKind(kind, hash, keys));
}

/** Looks at a key again, after its request has waited. Throws ApiError unauthorized, key_revoked or key_expired. */
export async function confirmDeveloper(keys: KeyLookup, hash: string): Promise<DeveloperKey> {
  const cached = keys.getCached(hash);
  return assertLive(cached === undefined ? await keys.findDeveloperKey(hash) : cached, keys.now());
}

/** Throws ApiError unauthorized or rate_limited unless the request carries the operator key; forbidden for another kind of key. */
export async function authenticateOperator(headers: HeaderReader, keys: KeyLookup, countRefusals: CountRefusals): Promise<void> {
  const key = parseKey(headers, keys);
  const kind = keys.parseKind(key) ?? refuse(MALFORMED);
  const hash = keys.hash(key);
  await countRefusals(hash, async () => {
    if (kind !== "operator") return refuseKind(kind, hash, keys);
    if (!(await keys.isOperatorKey(hash))) refuse(UNKNOWN);
  });
}

/** True if a request carries a key in the form of an operator key. */
export function namesOperatorKey(headers: HeaderReader, keys: KeyLookup): boolean {
  const [, key] = /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "") ?? [];
  return key !== undefined && keys.parseKind(key) === "operator";
}

/** Throws ApiError forbidden when the key lacks the permission of the endpoint, or is a test key and the endpoint is for live keys. */
export function authorizeDeveloper(key: DeveloperKey, { access, method, testKeys }: Endpoint): void {
  if (key.test && method !== "GET" && !testKeys)
    throw new ApiError("forbidden", "A test key cannot call this endpoint: what follows from it would be live.", {
      details: [{ path: "", code: "live_key_required", message: "test keys send mail, which is captured, and read" }],
      hint: "Use a live key, or a workspace of its own to try everything out: mailsvc workspaces create",
    });
  if (typeof access === "string" || "scope" in access || key.owner || key.permissions.has(access.permission)) return;
  throw new ApiError("forbidden", `This API key lacks the permission ${access.permission}.`, {
    details: [{ path: "", code: "missing_permission", message: access.permission }],
  });
}

/**
 * Authenticates a request by its agent key. Throws ApiError unauthorized, key_revoked, activation_paused or
 * rate_limited; forbidden for another kind of key; not_found when the path names another activation than the key's own.
 */
export async function authenticateAgent(
  headers: HeaderReader,
  keys: KeyLookup,
  read: Reader,
  activationId: string,
  countRefusals: CountRefusals,
): Promise<AdmittedAgent> {
  const key = parseKey(headers, keys);
  const kind = keys.parseKind(key) ?? refuse(MALFORMED);
  const hash = keys.hash(key);
  return countRefusals(hash, async () => {
    if (kind !== "agent") return refuseKind(kind, hash, keys);
    const agent = (await keys.admitAgent(read, hash)) ?? refuse(UNKNOWN);
    if (agent.activationId !== activationId) throw new ApiError("not_found", "This key does not belong to the activation in the path.");
    return { ...agent, hash };
  });
}

/** Throws ApiError forbidden when the brand has not granted the scope the endpoint requires. */
export function authorizeAgent(agent: AgentKey, { access }: Endpoint): void {
  if (typeof access === "string" || !("scope" in access) || agent.scopes.has(access.scope)) return;
  throw new ApiError("forbidden", `This activation does not have the scope ${access.scope}.`, {
    details: [{ path: "", code: "missing_scope", message: access.scope }],
    hint: "The brand grants scopes when it turns the agent on; the listing declares them.",
  });
}

function parseKey(headers: HeaderReader, { readKey }: KeyLookup): string {
  const own = readKey?.(headers) ?? null;
  if (own !== null) return own;
  const header = headers.get("authorization");
  if (!header) return refuse("Missing API key. Send it in the Authorization header: Bearer <API_KEY>.");
  return /^Bearer +(\S+)$/i.exec(header)?.[1] ?? refuse("Invalid Authorization header. Use the form: Bearer <API_KEY>.");
}

/** Throws ApiError forbidden if a key may not be used from an address. */
export function assertNetwork({ networks }: Pick<DeveloperKey, "networks">, address: string): void {
  if (networks === null || networks.some((network) => network.has(address))) return;
  throw new ApiError("forbidden", `This API key cannot be used from ${address}.`, {
    details: [{ path: "", code: "network_not_allowed", message: address }],
    hint: "Call from a network that the key is for, or create a key for this one. Behind a proxy, the server needs --trust-proxy.",
  });
}

function assertLive(key: DeveloperKey | null, now: number): DeveloperKey {
  if (!key) return refuse(UNKNOWN);
  if (key.revokedAt !== null) throw new ApiError("key_revoked", "This API key was revoked.", { headers: { "www-authenticate": "Bearer" } });
  if (key.expiresAt !== null && key.expiresAt <= now)
    throw new ApiError("key_expired", `This API key expired at ${iso(key.expiresAt)}.`, { headers: { "www-authenticate": "Bearer" } });
  return key;
}

function refuse(message: string): never {
  throw new ApiError("unauthorized", message, { headers: { "www-authenticate": "Bearer" } });
}

const KIND_NAMES: Readonly<Record<KeyKind, string>> = {
  developer: "a developer key",
  operator: "the operator key",
  agent: "the key of an agent",
};

/** Refuses a key of a kind the endpoint does not take: 403 if the key exists, otherwise 401. */
async function refuseKind(kind: KeyKind, hash: string, keys: KeyLookup): Promise<never> {
  if (kind === "developer") assertLive(await keys.findDeveloperKey(hash), keys.now());
  else if (!(await (kind === "operator" ? keys.isOperatorKey(hash) : keys.agentKeyExists(hash)))) refuse(UNKNOWN);
  throw new ApiError("forbidden", `This is ${KIND_NAMES[kind]}. It cannot be used for this endpoint.`, {
    hint: "Agent keys are for /api/agents/…, the operator key for what concerns the whole server, such as /api/v1/workspaces, developer keys for everything else.",
  });
}
