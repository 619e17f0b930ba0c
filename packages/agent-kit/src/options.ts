import { UsageError } from "./errors.ts";
import { didYouMean } from "./nearest.ts";
import { assertSecrets, type Secrets } from "./receive.ts";
import { type AgentClock, environment, randomToken } from "./runtime.ts";
import type { Concurrency } from "./slots.ts";
import { memoryStore } from "./stores/memory.ts";
import { type CheckedStore, type Store, withStoreErrors } from "./stores/store.ts";
import { noTelemetry, type Telemetry } from "./telemetry.ts";

/** Options of `createAgent`. Only the secret has no default outside of the environment. */
export interface AgentOptions {
  /** The secret of the listing's webhook; two during a rotation. Default: AGENT_WEBHOOK_SECRET. */
  secret?: Secrets;
  /** Store for keys, events and results of steps. Default: the memory of this process, for trying things out. */
  store?: Store;
  /**
   * Encrypts the keys of activations: 32 bytes as base64 or hex; several to rotate it, the first one encrypts. Default:
   * AGENT_MASTER_KEY; with the store in memory, a random one.
   */
  masterKey?: string | readonly string[];
  /** The address of the service. Default: MAILSVC_URL, or http://127.0.0.1:2526, where `mailsvc dev` listens. */
  baseUrl?: string;
  /**
   * `inbox` stores an event, answers 200 and works on it afterwards, again after a crash or an error. `inline` answers when the handlers
   * are done, for platforms that stop a process after its response; handlers then have seven seconds. Default: `inbox`.
   */
  mode?: "inbox" | "inline";
  /** Maximum attempts for an event (inbox). Default: 10, over about six hours. */
  maxAttempts?: number;
  /** Lease of an event, in ms: if its process crashes, others take over after that. Default: 30 000. */
  leaseMs?: number;
  /** Retention of handled and dead events and of step results, in ms. Default: 30 days. */
  keepMs?: number;
  /**
   * Maximum number of events this process works on at the same time (inbox). A run that waits for an answer does not count. Default: no
   * limit.
   */
  concurrency?: Concurrency;
  /** Measures events, runs, steps and calls. */
  telemetry?: Telemetry;
  fetch?: typeof fetch;
  /** Time for timers and retries, for tests. Leases go by the clock of the store. */
  clock?: AgentClock;
}

/** The options with their defaults. */
export interface Settings {
  readonly secret: Secrets;
  readonly store: CheckedStore;
  /** True if a store was given: it may outlive this process. */
  readonly isStored: boolean;
  readonly masterKey: string | readonly string[];
  readonly baseUrl: string;
  readonly mode: "inbox" | "inline";
  readonly maxAttempts: number;
  readonly leaseMs: number;
  readonly keepMs: number;
  readonly concurrency: Concurrency;
  readonly telemetry: Telemetry;
  readonly fetch: typeof fetch;
  readonly clock: AgentClock | null;
}

const DAY_MS = 86_400_000;

/** Checks the options and adds the defaults. Throws UsageError that names the first option that is wrong, and what it must be. */
export function readOptions(options: AgentOptions): Settings {
  checkOptions("createAgent", options, CHECKS);
  const secret = options.secret ?? environment("AGENT_WEBHOOK_SECRET") ?? "";
  if (typeof secret !== "function") assertSecrets(secret);
  const baseUrl = options.baseUrl ?? (environment("MAILSVC_URL") || "http://127.0.0.1:2526");
  if (!isAddress(baseUrl)) throw new UsageError(`baseUrl must be ${ADDRESS}, not "${baseUrl}".`);
  return {
    secret,
    store: withStoreErrors(options.store ?? memoryStore()),
    isStored: options.store !== undefined,
    masterKey: chooseMasterKey(options),
    baseUrl: baseUrl.replace(/\/+$/, ""),
    mode: options.mode ?? "inbox",
    maxAttempts: options.maxAttempts ?? 10,
    leaseMs: options.leaseMs ?? 30_000,
    keepMs: options.keepMs ?? 30 * DAY_MS,
    concurrency: options.concurrency ?? {},
    telemetry: options.telemetry ?? noTelemetry,
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    clock: options.clock ?? null,
  };
}

/** Check of an option: says what the value must be; null if it is valid. */
type Check = (value: unknown) => string | null;

/** Checks an object of options. Throws UsageError for an unknown one, with the nearest that is known, and for a wrong value. */
export function checkOptions(who: string, options: object, checks: Readonly<Record<string, Check>>): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) throw new UsageError(`${who} takes an object of options.`);
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(checks, name)) throw new UsageError(`${who}: there is no option "${name}".${didYouMean(name, Object.keys(checks))}`);
    const wanted = value === undefined ? null : checks[name]?.(value);
    if (wanted) throw new UsageError(`${who}: ${name} must be ${wanted}${describe(name, value)}`);
  }
}

const MODES = ["inbox", "inline"] as const;
const ADDRESS = "an address with http:// or https://";
const isFunction = (value: unknown): boolean => typeof value === "function";
const must =
  (test: (value: unknown) => boolean, wanted: string): Check =>
  (value) =>
    test(value) ? null : wanted;
const isPositive = (value: unknown): boolean => typeof value === "number" && value > 0;

/** A time in milliseconds. */
const milliseconds: Check = must((value) => isPositive(value) && Number.isFinite(value), "a number of milliseconds above 0");
/** A time in milliseconds, or Infinity. */
export const limitMs: Check = must(isPositive, "a number of milliseconds above 0, or Infinity");
const count: Check = must((value) => isPositive(value) && Number.isInteger(value), "a whole number above 0");
const limit: Check = must((value) => value === Number.POSITIVE_INFINITY || count(value) === null, "a whole number above 0, or Infinity");
/** An option that is checked elsewhere, by whom it concerns. */
export const anything: Check = () => null;

const CHECKS: Readonly<Record<keyof AgentOptions, Check>> = {
  secret: must(
    (value) => isFunction(value) || typeof value === "string" || Array.isArray(value),
    "a text, a list of texts, or a function that returns one of them",
  ),
  store: (value) => {
    const missing = ["get", "swap", "list"].find((name) => !isFunction((value as Record<string, unknown> | null)?.[name]));
    return missing ? `a store; it has no method ${missing}. For example: sqliteStore(new DatabaseSync("agent.db"))` : null;
  },
  masterKey: must((value) => typeof value === "string" || Array.isArray(value), "a text or a list of texts"),
  baseUrl: must(isAddress, ADDRESS),
  mode: must((value) => MODES.some((mode) => mode === value), '"inbox" or "inline"'),
  maxAttempts: count,
  leaseMs: milliseconds,
  keepMs: milliseconds,
  concurrency: (value) => {
    checkOptions("concurrency", value as object, { total: limit, perActivation: limit });
    return null;
  },
  telemetry: must(isFunction, "a function"),
  fetch: must(isFunction, "a function"),
  clock: must((value) => {
    const { now, after } = (value ?? {}) as Partial<AgentClock>;
    return isFunction(now) && isFunction(after);
  }, "an object with the methods now and after"),
};

function isAddress(value: unknown): boolean {
  return typeof value === "string" && /^https?:\/\/./.test(value) && URL.canParse(value);
}

/** The end of a message about a value: the value, unless it may be a secret, and the nearest one that is right. */
function describe(name: string, value: unknown): string {
  const isSecret = name === "secret" || name === "masterKey";
  if (typeof value === "number" && !isSecret) return `, not ${value}.`;
  if (typeof value !== "string" || isSecret) return ".";
  return `, not "${value.slice(0, 100)}".${name === "mode" ? didYouMean(value, MODES) : ""}`;
}

function chooseMasterKey({ masterKey, store }: AgentOptions): string | readonly string[] {
  const given = masterKey ?? environment("AGENT_MASTER_KEY");
  if (given !== undefined && given !== "") return given;
  if (store === undefined) return randomToken() + randomToken();
  throw new UsageError("masterKey is missing: it encrypts the keys in the store. Make one: openssl rand -base64 32");
}
