import { type Permission, takesOperatorKey } from "@mailsvc/sdk/contract";
import { ApiError } from "../lib/api-error.ts";
import type { Clock } from "../lib/clock.ts";
import type { Limiter, Rate, RateLimitResult } from "../lib/rate.ts";
import { MB } from "../lib/units.ts";
import {
  assertNetwork,
  authenticateAgent,
  authenticateDeveloper,
  authenticateOperator,
  authorizeAgent,
  authorizeDeveloper,
  type CountRefusals,
  confirmDeveloper,
  type DeveloperKey,
  type KeyLookup,
  namesOperatorKey,
  type SessionLookup,
} from "./auth.ts";
import type { Call, Caller, Input } from "./call.ts";
import { getClientAddress } from "./client-address.ts";
import type { HttpDeps } from "./deps.ts";
import type { AgentContext, KeyContext } from "./handler.ts";
import type { HeaderList } from "./headers.ts";
import type { OperatorRights } from "./operator-rights.ts";
import { applyRateLimit, formatRate, limitAgent, limitAgentWork, limitDeveloper } from "./rate-limit.ts";

// The largest body without a key, or with the operator key: Stripe's events are a few kilobytes.
export const PUBLIC_BODY_BYTES = MB;
// The largest body of an agent's call that is no upload: a landing page of half a megabyte with each character escaped.
const AGENT_BODY_BYTES = 4 * MB;
// Base64 takes a third more than the bytes it encodes.
const BASE64_OVERHEAD = 4 / 3;

const UNLIMITED = { name: "operator", person: null, revokedAt: null, expiresAt: null, senders: null, networks: null } as const;

/** A caller with the rights of a developer key, with functions that check if it still has them. */
interface AdmittedDeveloper {
  readonly key: DeveloperKey;
  readonly hasShownOperatorKey: () => Promise<boolean>;
  readonly recheck: () => Promise<unknown>;
  readonly watch: (until: AbortSignal) => AbortSignal;
}

export interface AdmissionParts {
  readonly deps: Pick<HttpDeps, "config" | "db" | "clock" | "failedLogins">;
  readonly keys: KeyLookup;
  readonly sessions: SessionLookup;
  readonly operators: OperatorRights;
  readonly limiter: Limiter;
}

/**
 * Admits callers: authenticates the key, takes from its rate limit, and checks that it may call the endpoint, in this order. Each
 * method throws ApiError unauthorized, key_revoked, key_expired, activation_paused, rate_limited, forbidden or not_found.
 */
export class Admission {
  readonly #deps: AdmissionParts["deps"];
  readonly #keys: KeyLookup;
  readonly #sessions: SessionLookup;
  readonly #operators: OperatorRights;
  readonly #limiter: Limiter;
  readonly #refusedKeys: RefusedKeys;

  constructor({ deps, keys, sessions, operators, limiter }: AdmissionParts) {
    this.#deps = deps;
    this.#keys = keys;
    this.#sessions = sessions;
    this.#operators = operators;
    this.#limiter = limiter;
    this.#refusedKeys = new RefusedKeys({ limiter, rate: deps.config.rates.agent, clock: deps.clock });
  }

  async admitDeveloper(call: Call): Promise<Caller> {
    const { endpoint, base, headers } = call;
    if (takesOperatorKey(endpoint) && namesOperatorKey(call.request.headers, this.#keys)) return this.#admitDecider(call);
    const { maxBodyBytes, rates } = this.#deps.config;
    const { key, hasShownOperatorKey, recheck, watch } = (await this.#admitSession(call)) ?? (await this.#admitKey(call));
    call.keyId = key.id;
    call.workspaceId = key.workspaceId;
    if (key.networks !== null) assertNetwork(key, this.#getAddress(call));
    await limitDeveloper(this.#limiter, rates, key.id, endpoint, headers);
    authorizeDeveloper(key, endpoint);
    const asker = { workspaceId: key.workspaceId, hasShownKey: hasShownOperatorKey };
    const context: KeyContext<HttpDeps> = {
      ...base,
      workspaceId: key.workspaceId,
      key,
      isOperator: () => this.#operators.isOperator(asker),
    };
    return {
      id: key.id,
      context,
      ...(takesOperatorKey(endpoint) && {
        settle: async (input) => ({ ...context, workspaceId: await this.#operators.admit(endpoint, input, asker) }),
      }),
      recheck,
      watch,
      maxBody: endpoint.form ? maxBodyBytes * BASE64_OVERHEAD : maxBodyBytes,
    };
  }

  async admitOperator(call: Call): Promise<Caller> {
    const { request, endpoint, base, headers } = call;
    const { maxBodyBytes, rates } = this.#deps.config;
    if (!(await this.#isOperatorSession(call)))
      await this.#authenticate(call, (count) => authenticateOperator(request.headers, this.#keys, count));
    call.keyId = "operator";
    await limitDeveloper(this.#limiter, rates, "operator", endpoint, headers);
    return { id: "operator", context: base, maxBody: Math.min(maxBodyBytes, PUBLIC_BODY_BYTES) };
  }

  /** True if a request that needs no key comes with one of the operator. Throws ApiError for a key that does not work. */
  async isOperator(call: Call): Promise<boolean> {
    const { headers } = call.request;
    if (headers.get("authorization") === null) return false;
    const isOperatorKey = namesOperatorKey(headers, this.#keys);
    if (isOperatorKey) await this.#authenticate(call, (count) => authenticateOperator(headers, this.#keys, count));
    else await this.#admitKey(call);
    return this.#operators.isOperator({ hasShownKey: async () => isOperatorKey });
  }

  /** Admits the operator key to an endpoint of developers in which the operator decides something. */
  async #admitDecider(call: Call): Promise<Caller> {
    const { endpoint, base } = call;
    const caller = await this.admitOperator(call);
    const asker = { workspaceId: null, hasShownKey: async () => true };
    const settle = async (input: Input): Promise<KeyContext<HttpDeps>> => {
      const workspaceId = await this.#operators.admit(endpoint, input, asker);
      const key = { id: caller.id, workspaceId, owner: true, test: false, permissions: new Set<Permission>(), ...UNLIMITED };
      return { ...base, workspaceId, key, isOperator: asker.hasShownKey };
    };
    return { ...caller, settle };
  }

  /** `named` is the activation in the path, which must be that of the key. */
  async admitAgent(call: Call, named: string): Promise<Caller> {
    const { request, endpoint, base, headers } = call;
    const { maxBodyBytes, rates } = this.#deps.config;
    const { hash, ...agent } = await this.#authenticate(call, (count) =>
      authenticateAgent(request.headers, this.#keys, this.#deps.db.read, named, count),
    );
    const { activationId } = agent;
    call.keyId = activationId;
    call.workspaceId = agent.workspaceId;
    await limitAgent(this.#limiter, rates, activationId, headers);
    authorizeAgent(agent, endpoint);
    const context: AgentContext<HttpDeps> = { ...base, workspaceId: agent.workspaceId, agent };
    return {
      id: activationId,
      context,
      // Checked again in the write's transaction: a pause committed meanwhile counts.
      confirm: (tx) => this.#keys.admitAgent(tx, hash),
      maxBody: endpoint.form ? maxBodyBytes * BASE64_OVERHEAD : Math.min(maxBodyBytes, AGENT_BODY_BYTES),
      limit: (input) => limitAgentWork(this.#limiter, rates, activationId, endpoint, input, headers),
    };
  }

  /** A request without a key may come from a browser that has signed in. */
  async #admitSession({ request, endpoint }: Call): Promise<AdmittedDeveloper | null> {
    if (request.headers.get("authorization") !== null) return null;
    const { headers, remoteAddress } = request;
    return this.#sessions.admit({ method: endpoint.method, headers, remoteAddress });
  }

  async #isOperatorSession({ request, endpoint }: Call): Promise<boolean> {
    if (request.headers.get("authorization") !== null) return false;
    const { headers, remoteAddress } = request;
    return this.#sessions.admitOperator({ method: endpoint.method, headers, remoteAddress });
  }

  async #admitKey(call: Call): Promise<AdmittedDeveloper> {
    const { hash, key } = await this.#authenticate(call, (count) => authenticateDeveloper(call.request.headers, this.#keys, count));
    this.#keys.noteUse(key.id);
    return {
      key,
      hasShownOperatorKey: async () => false,
      recheck: () => confirmDeveloper(this.#keys, hash),
      watch: (until) => this.#keys.watchKey(hash, until),
    };
  }

  #getAddress({ request: { remoteAddress, headers } }: Call): string {
    return getClientAddress(remoteAddress, headers.get("x-forwarded-for"), this.#deps.config.trustedProxies);
  }

  /** Refusals are counted against the key; one that does not exist, against the client's address. */
  async #authenticate<T>({ request, headers }: Call, authenticate: (countRefusals: CountRefusals) => Promise<T>): Promise<T> {
    try {
      return await authenticate((hash, lookUp) => this.#refusedKeys.run(hash, headers, lookUp));
    } catch (error) {
      this.#deps.failedLogins.countRequest(error, request, headers);
      throw error;
    }
  }
}

/** The time during which a key is refused without a lookup, ms. It has a start, too: a clock that is put back must not extend it. */
interface Cooldown {
  readonly from: number;
  readonly until: number;
}

interface RefusedKeysOptions {
  readonly limiter: Limiter;
  /** Refusals per key. */
  readonly rate: Rate;
  readonly clock: Clock;
}

/**
 * Limits calls with keys that exist and are refused: an agent that keeps calling while it is paused, or a key used on the wrong kind of
 * endpoint, is refused without a lookup once it has used up its rate. Keys that open something pay one look at an empty map.
 */
class RefusedKeys {
  readonly #limiter: Limiter;
  readonly #rate: Rate;
  readonly #now: () => number;
  /** By the key's hash, the oldest first. */
  readonly #cooldowns = new Map<string, Cooldown>();

  constructor({ limiter, rate, clock }: RefusedKeysOptions) {
    this.#limiter = limiter;
    this.#rate = rate;
    this.#now = () => clock.now();
  }

  /**
   * Runs a lookup. If it refuses the key, counts the refusal, and `headers` tell the remaining attempts. Throws what `lookUp` throws, or
   * ApiError rate_limited.
   */
  async run<T>(hash: string, headers: HeaderList, lookUp: () => Promise<T>): Promise<T> {
    if (this.#cooldowns.size > 0) this.#assertNoCooldown(hash, headers);
    try {
      return await lookUp();
    } catch (error) {
      // Unknown keys are counted by address (`failed-logins.ts`): anyone can make up a new one.
      if (error instanceof ApiError && error.code !== "unauthorized") await this.#countRefusal(hash, headers);
      throw error;
    }
  }

  async #countRefusal(hash: string, headers: HeaderList): Promise<void> {
    const taken = await this.#limiter.take(`${hash}:refused`, this.#rate);
    if (!taken.allowed) this.#startCooldown(hash, taken.reset * 1000);
    this.#apply(taken, headers);
  }

  #startCooldown(hash: string, ms: number): void {
    const from = this.#now();
    for (const [other, { until }] of this.#cooldowns) {
      if (from < until) break;
      this.#cooldowns.delete(other);
    }
    this.#cooldowns.delete(hash);
    this.#cooldowns.set(hash, { from, until: from + ms });
  }

  #assertNoCooldown(hash: string, headers: HeaderList): void {
    const cooldown = this.#cooldowns.get(hash);
    const now = this.#now();
    if (cooldown === undefined || now < cooldown.from || now >= cooldown.until) return;
    this.#apply({ allowed: false, limit: this.#rate.burst, remaining: 0, reset: Math.ceil((cooldown.until - now) / 1000) }, headers);
  }

  #apply(result: RateLimitResult, headers: HeaderList): void {
    applyRateLimit(result, headers, () => ({
      message: `Too many requests with a key that is refused here: at most ${formatRate(this.#rate)}.`,
      hint: "Stop calling with this key. A paused agent receives agent.resumed when its key works again; a revoked key, or one of another kind than this address takes, never does.",
    }));
  }
}
