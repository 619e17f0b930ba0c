import type { Limiter } from "../lib/rate.ts";
import { MB } from "../lib/units.ts";
import {
  authenticateAgent,
  authenticateDeveloper,
  authenticateOperator,
  authorizeAgent,
  authorizeDeveloper,
  type CountRefusals,
  confirmDeveloper,
  type DeveloperKey,
  type KeyLookup,
  type SessionLookup,
} from "./auth.ts";
import type { Call, Caller } from "./call.ts";
import type { HttpDeps } from "./deps.ts";
import type { AgentContext, KeyContext } from "./handler.ts";
import { limitAgent, limitAgentWork, limitDeveloper } from "./rate-limit.ts";
import { RefusedKeys } from "./refused-keys.ts";

// The largest body without a key, or with the operator key: Stripe's events are a few kilobytes.
export const PUBLIC_BODY_BYTES = MB;
// The largest body of an agent's call that is no upload: a landing page of half a megabyte with each character escaped.
const AGENT_BODY_BYTES = 4 * MB;
// Base64 takes a third more than the bytes it encodes.
const BASE64_OVERHEAD = 4 / 3;

/** Who calls with the rights of a developer key, and how to look whether they still have them. */
interface AdmittedDeveloper {
  readonly key: DeveloperKey;
  readonly recheck: () => Promise<unknown>;
  readonly watch: (until: AbortSignal) => AbortSignal;
}

export interface AdmissionParts {
  readonly deps: Pick<HttpDeps, "config" | "db" | "clock" | "failedLogins">;
  readonly keys: KeyLookup;
  readonly sessions: SessionLookup;
  readonly limiter: Limiter;
}

/**
 * Admits callers: authenticates the key, takes from its rate limit, and checks that it may call the endpoint, in this order. Each
 * method throws ApiError unauthorized, key_revoked, activation_paused, rate_limited, forbidden or not_found.
 */
export class Admission {
  readonly #deps: AdmissionParts["deps"];
  readonly #keys: KeyLookup;
  readonly #sessions: SessionLookup;
  readonly #limiter: Limiter;
  readonly #refusedKeys: RefusedKeys;

  constructor({ deps, keys, sessions, limiter }: AdmissionParts) {
    this.#deps = deps;
    this.#keys = keys;
    this.#sessions = sessions;
    this.#limiter = limiter;
    this.#refusedKeys = new RefusedKeys({ limiter, rate: deps.config.rates.agent, clock: deps.clock });
  }

  async admitDeveloper(call: Call): Promise<Caller> {
    const { endpoint, base, headers } = call;
    const { maxBodyBytes, rates } = this.#deps.config;
    const { key, recheck, watch } = (await this.#admitSession(call)) ?? (await this.#admitKey(call));
    call.keyId = key.id;
    await limitDeveloper(this.#limiter, rates, key.id, endpoint, headers);
    authorizeDeveloper(key, endpoint);
    const context: KeyContext<HttpDeps> = { ...base, workspaceId: key.workspaceId, key };
    return {
      id: key.id,
      context,
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

  /** `named` is the activation in the path, which must be that of the key. */
  async admitAgent(call: Call, named: string): Promise<Caller> {
    const { request, endpoint, base, headers } = call;
    const { maxBodyBytes, rates } = this.#deps.config;
    const { hash, ...agent } = await this.#authenticate(call, (count) =>
      authenticateAgent(request.headers, this.#keys, this.#deps.db.read, named, count),
    );
    const { activationId } = agent;
    call.keyId = activationId;
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
    return { key, recheck: () => confirmDeveloper(this.#keys, hash), watch: (until) => this.#keys.watchKey(hash, until) };
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
