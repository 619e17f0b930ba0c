import type { AgentScope, Endpoint } from "@mailsvc/sdk/contract";
import type { Deps } from "../deps.ts";
import type { KeyInfo } from "../keys/key-cache.ts";
import { hashKey, isDeveloperKind, type KeyKind, parseKeyKind } from "../keys/secret.ts";
import { ApiError } from "../lib/api-error.ts";
import { type AgentKey, admitAgent, agentKeyExists } from "../marketplace/activations/agent-keys.ts";
import type { HeaderReader } from "./headers.ts";

const UNKNOWN = "This key is not known here.";
const MALFORMED = "This key is not well formed; it may be cut off or mistyped.";

/** How a key is looked up whose refusal counts: answers what the look gives, or throws rate_limited. */
export type LookUp = <T>(hash: string, look: () => Promise<T>) => Promise<T>;

/**
 * The live developer key of a request (SPEC 5.1). Throws ApiError unauthorized, key_revoked or rate_limited; forbidden for
 * another kind of key.
 */
export function authenticate(headers: HeaderReader, deps: Deps, lookUp: LookUp): KeyInfo | Promise<KeyInfo> {
  const { keyCache } = deps;
  const key = bearer(headers);
  const hash = keyCache.hash(key);
  const known = keyCache.get(hash);
  if (known !== undefined) return live(known);
  // A key with a typing error costs no database read.
  const kind = parseKeyKind(key) ?? refuse(MALFORMED);
  if (isDeveloperKind(kind)) return keyCache.load(hash).then(live);
  return lookUp(hash, () => refuseKind(kind, hash, deps));
}

/** Throws ApiError unauthorized or rate_limited unless a request carries the operator key; forbidden for another kind of key. */
export async function authenticateOperator(headers: HeaderReader, deps: Deps, lookUp: LookUp): Promise<void> {
  const key = bearer(headers);
  const kind = parseKeyKind(key) ?? refuse(MALFORMED);
  const hash = hashKey(key);
  await lookUp(hash, async () => {
    if (kind !== "op") return refuseKind(kind, hash, deps);
    if (!(await deps.keyCache.isOperator(hash))) refuse(UNKNOWN);
  });
}

/** Throws ApiError forbidden when the key lacks what the endpoint asks for. */
export function authorise(key: KeyInfo, { access }: Endpoint): void {
  if (typeof access === "string" || "scope" in access || key.owner || key.permissions.has(access.permission)) return;
  throw new ApiError("forbidden", `This key lacks the permission ${access.permission}.`, {
    details: [{ path: "", code: "missing_permission", message: access.permission }],
  });
}

/** An agent that has shown its key, and the hash by which the key is asked for again. */
export interface Agent extends AgentKey {
  readonly hash: string;
}

/**
 * The agent whose key a request carries (SPEC 5.2). Throws ApiError unauthorized, key_revoked, activation_paused or
 * rate_limited; forbidden for another kind of key; not_found where the path names another activation than the key's own.
 */
export async function authenticateAgent(headers: HeaderReader, deps: Deps, activationId: string, lookUp: LookUp): Promise<Agent> {
  const key = bearer(headers);
  const kind = parseKeyKind(key) ?? refuse(MALFORMED);
  const hash = hashKey(key);
  return lookUp(hash, async () => {
    if (kind !== "agent") return refuseKind(kind, hash, deps);
    const agent = (await admitAgent(deps.db.read, hash, deps.clock.now())) ?? refuse(UNKNOWN);
    if (agent.activationId !== activationId) throw new ApiError("not_found", "This key does not belong to the activation in the path.");
    return { ...agent, hash };
  });
}

/** Throws ApiError forbidden when the brand has not agreed to what the endpoint needs (SPEC 5.3). */
export function authoriseAgent(agent: AgentKey, { access }: Endpoint): void {
  if (typeof access === "string" || !("scope" in access) || agent.scopes.has(access.scope)) return;
  throw missingScope(access.scope);
}

function refuse(message: string): never {
  throw new ApiError("unauthorized", message, { headers: { "www-authenticate": "Bearer" } });
}

function bearer(headers: HeaderReader): string {
  const header = headers.get("authorization");
  if (!header) return refuse("There is no key: the Authorization header is missing.");
  return /^Bearer +(\S+)$/i.exec(header)?.[1] ?? refuse("The Authorization header is not of the form: Bearer <API_KEY>.");
}

function live(found: KeyInfo | null): KeyInfo {
  if (!found) return refuse(UNKNOWN);
  if (found.revokedAt !== null) throw new ApiError("key_revoked", "This key was revoked.", { headers: { "www-authenticate": "Bearer" } });
  return found;
}

const KIND_NAMES: Record<KeyKind, string> = {
  live: "a developer key",
  dev: "a developer key",
  op: "the operator key",
  agent: "the key of an agent",
};

/** Refuses a key of a kind that the endpoint does not take; says so only if the key exists. */
async function refuseKind(kind: KeyKind, hash: string, { keyCache, db }: Deps): Promise<never> {
  if (isDeveloperKind(kind)) live(await keyCache.load(hash));
  else if (!(await (kind === "op" ? keyCache.isOperator(hash) : agentKeyExists(db.read, hash)))) refuse(UNKNOWN);
  throw new ApiError("forbidden", `This is ${KIND_NAMES[kind]}. It cannot be used for this endpoint.`, {
    hint: "Agent keys are for /api/agents/…, the operator key for /api/v1/workspaces, developer keys for everything else.",
  });
}

function missingScope(scope: AgentScope): ApiError {
  return new ApiError("forbidden", `This activation does not have the scope ${scope}.`, {
    details: [{ path: "", code: "missing_scope", message: scope }],
    hint: "The brand agrees to scopes when it turns the agent on; the listing declares them.",
  });
}
