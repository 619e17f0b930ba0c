import { AUDIT_LIMITS, type AuditChange, type Contract, type Endpoint, paramNames } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import type { Input } from "../http/call.ts";
import type { ChangeRecorder, RecordedWrite } from "../http/change-recorder.ts";
import { nameCaller } from "../keys/keys.ts";
import { ApiError } from "../lib/api-error.ts";
import type { Clock } from "../lib/clock.ts";
import type { Ids } from "../lib/ids.ts";
import type { AuditTables } from "./tables.ts";

type Fields = Readonly<Record<string, unknown>>;
type Actor = Pick<AuditTables["auditEntries"]["$inferInsert"], "workspaceId" | "actorKind" | "actorId" | "actorName">;
type Read = (input: Input, context: object) => Promise<unknown>;

/** An operation whose changes are recorded. */
interface Operation {
  readonly action: string;
  /** Reads the object that it changes; null where nothing shows it. */
  readonly get: { readonly endpoint: Endpoint; readonly read: Read } | null;
}

const NAME = 200;

/**
 * Records who changed what, in the transaction of the change. The fields are those that the API shows of the object: it is read by the
 * operation that shows it, before and after.
 */
export class Changes implements ChangeRecorder {
  readonly #deps: AuditDeps;
  readonly #operations = new Map<Endpoint, Operation>();

  constructor(deps: AuditDeps, contract: Contract, handlers: Readonly<Record<string, Readonly<Record<string, unknown>>>>) {
    this.#deps = deps;
    for (const [noun, group] of Object.entries(contract))
      for (const [verb, endpoint] of Object.entries(group)) {
        if (endpoint.method === "GET" || !isAudited(noun, verb)) continue;
        const read = handlers[noun]?.["get"];
        const get = group["get"] !== undefined && typeof read === "function" ? { endpoint: group["get"], read: read as Read } : null;
        this.#operations.set(endpoint, { action: `${noun}.${verb}`, get });
      }
  }

  async record(write: RecordedWrite, tx: Tx, run: () => Promise<unknown>): Promise<unknown> {
    const operation = this.#operations.get(write.endpoint);
    if (operation === undefined) return run();
    const before = await this.#show(operation, write, write.input, tx);
    const output = await run();
    const answer = toFields(output);
    const after =
      write.endpoint.method === "DELETE"
        ? null
        : ((await this.#show(operation, write, { ...write.input, ...keysOf(answer) }, tx)) ?? answer);
    await this.#store(operation, write, { before, after, answer }, tx);
    return output;
  }

  /** The object as the API shows it; null if there is none. */
  async #show({ get }: Operation, { context }: RecordedWrite, input: Input, tx: Tx): Promise<Fields | null> {
    if (get === null || !("workspaceId" in context)) return null;
    const names = paramNames(get.endpoint.path);
    const params = names.map((name) => [name, input[name]] as const);
    if (params.some(([, value]) => typeof value !== "string")) return null;
    try {
      return toFields(await get.read(Object.fromEntries(params), { ...withoutOthers(context), tx, read: tx }));
    } catch (error) {
      if (error instanceof ApiError && error.status < 500) return null;
      throw error;
    }
  }

  async #store(
    { action }: Operation,
    { endpoint, input, context }: RecordedWrite,
    { before, after, answer }: Readonly<Record<"before" | "after" | "answer", Fields | null>>,
    tx: Tx,
  ): Promise<void> {
    const params = paramNames(endpoint.path);
    const named = new Set(Object.keys(input).filter((name) => !params.includes(name)));
    const deleted = endpoint.method === "DELETE";
    const isAction = named.size === 0 || endpoint.method === "POST";
    const changes = deleted ? [] : listChanges(before, after, before !== null && isAction ? null : named);
    // An update that changes nothing is none.
    if (endpoint.method === "PATCH" && before !== null && changes.length === 0) return;
    const shown = after ?? before ?? answer;
    const param = params.at(-1);
    const id = answer?.["id"] ?? shown?.["id"] ?? (param === undefined ? null : input[param]);
    const name = shown?.["name"] ?? shown?.["email"] ?? shown?.["title"] ?? shown?.["slug"] ?? null;
    await tx.insertAll(tx.t.auditEntries, [
      {
        id: this.#deps.ids("aud"),
        ...findActor(context),
        at: this.#deps.clock.now(),
        action,
        objectId: typeof id === "string" ? id.slice(0, NAME) : null,
        objectName: typeof name === "string" ? name.slice(0, NAME) : null,
        changes,
        requestId: context.requestId,
      },
    ]);
  }
}

/** The context of a caller who may read no other objects: what uses an object is no field of it, and costs the transaction its time. */
function withoutOthers(context: RecordedWrite["context"]): RecordedWrite["context"] {
  return "key" in context ? { ...context, key: { ...context.key, owner: false, permissions: new Set() } } : context;
}

/** The keys by which an answer can be shown again. */
function keysOf(answer: Fields | null): Input {
  return Object.fromEntries(["id", "slug", "name"].flatMap((name) => (typeof answer?.[name] === "string" ? [[name, answer[name]]] : [])));
}

/** The fields of an output; null if it has none. An output with its status has them in its body. */
function toFields(output: unknown): Fields | null {
  if (typeof output !== "object" || output === null || Array.isArray(output)) return null;
  const { status, body } = output as { status?: unknown; body?: unknown };
  return typeof status === "number" && typeof body === "object" ? (body as Fields | null) : (output as Fields);
}

function findActor(context: RecordedWrite["context"]): Actor {
  if ("key" in context) {
    const { id, name, person } = context.key;
    const { workspaceId } = context;
    return person === null
      ? { workspaceId, actorKind: "key", actorId: id, actorName: name }
      : { workspaceId, actorKind: "person", actorId: person.memberId ?? id, actorName: nameCaller(context.key) };
  }
  if ("agent" in context)
    return { workspaceId: context.workspaceId, actorKind: "agent", actorId: context.agent.activationId, actorName: null };
  return { workspaceId: null, actorKind: "operator", actorId: null, actorName: null };
}

/** Nouns whose changes are recorded, with the verbs that change nothing; a string is the reason for which none are. */
type Audited = readonly string[] | string;

const EVENTS = "Its history is in the events.";
const NO_CHANGE = "It changes nothing, or only what is in progress.";
const OF_RUNS = "Its history is that of the run.";
const DEV = "It is of dev mode.";

/** Declaration for each noun of the API; `audit.test.ts` finds a missing one. */
export const AUDITED: Readonly<Record<string, Audited>> = {
  emails: EVENTS,
  received: EVENTS,
  contacts: EVENTS,
  people: EVENTS,
  suppressions: EVENTS,
  events: EVENTS,
  metrics: [],
  templates: ["preview", "render", "test", "send"],
  inboundDomains: ["verify"],
  senders: ["verify", "confirm"],
  providers: [],
  lists: ["add", "remove", "removeOne", "resend", "confirm"],
  forms: [],
  segments: ["preview"],
  campaigns: ["preview", "test"],
  automations: ["test"],
  webhooks: ["test", "redeliver", "redeliverSince"],
  keys: [],
  members: [],
  dashboard: ["link"],
  workspaces: [],
  queue: [],
  readers: "What it keeps follows from the log.",
  relays: ["test"],
  listings: ["checkout", "resume"],
  activations: [],
  credits: [],
  plans: [],
  payments: [],
  brand: [],
  landingPages: [],
  leadMagnets: [],
  assets: [],
  "agent.landingPages": [],
  "agent.leadMagnets": [],
  "agent.assets": [],
  audit: NO_CHANGE,
  requests: NO_CHANGE,
  mailStates: NO_CHANGE,
  domains: NO_CHANGE,
  lint: NO_CHANGE,
  explanations: NO_CHANGE,
  catalog: NO_CHANGE,
  me: NO_CHANGE,
  health: NO_CHANGE,
  jobs: NO_CHANGE,
  deliveries: NO_CHANGE,
  approvals: NO_CHANGE,
  messages: "Its history is the conversation.",
  runs: OF_RUNS,
  "agent.self": NO_CHANGE,
  "agent.brand": NO_CHANGE,
  "agent.lists": NO_CHANGE,
  "agent.explanations": NO_CHANGE,
  "agent.messages": OF_RUNS,
  "agent.runs": OF_RUNS,
  "agent.credits": OF_RUNS,
  "agent.wakeups": OF_RUNS,
  testInbox: NO_CHANGE,
  inbox: DEV,
  clock: DEV,
  world: DEV,
  faults: DEV,
  inbound: EVENTS,
  stripe: "Its history is that of the payment.",
};

/** True if the changes of an operation are recorded. */
function isAudited(noun: string, verb: string): boolean {
  const audited = AUDITED[noun];
  return audited !== undefined && typeof audited !== "string" && !audited.includes(verb);
}

/** Names of fields that hold a secret, or what is worth one. */
const SECRET = /secret|token|passw|credential|^key$|apiKey|privateKey|authorization|hash|signature/i;

// Fields that follow from any change, or change by themselves.
const VOLATILE = new Set(["updatedAt", "createdAt", "revision", "lastUsedAt", "memberCount", "pendingCount", "usedBy", "stats"]);

/**
 * Changes between two states of an object: of the fields in `named`, or of all without it. A field that `before` and `after` do not have is
 * left out, so that what a request sends and nobody can read, such as a password, is never kept.
 */
function listChanges(before: Fields | null, after: Fields | null, named: ReadonlySet<string> | null): AuditChange[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return names
    .filter((field) => !VOLATILE.has(field) && !SECRET.test(field) && (named === null || named.has(field)))
    .map((field) => ({ field, before: keep(before?.[field]), after: keep(after?.[field]) }))
    .filter((change) => JSON.stringify(change.before) !== JSON.stringify(change.after))
    .slice(0, AUDIT_LIMITS.fields);
}

/** A value as it is kept: without secrets, and cut where it is long. */
function keep(value: unknown): unknown {
  const safe = withoutSecrets(value ?? null);
  const json = JSON.stringify(safe);
  if (json.length <= AUDIT_LIMITS.value) return safe;
  const text = typeof safe === "string" ? safe : json;
  // A pair of surrogates is not cut in two.
  return `${text
    .slice(0, AUDIT_LIMITS.value)
    .toWellFormed()
    .replace(/\uFFFD$/, "")}… (${text.length} characters)`;
}

function withoutSecrets(value: unknown): unknown {
  if (typeof value === "string") return withoutQuery(value);
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([name, inner]) => (SECRET.test(name) ? [] : [[name, withoutSecrets(inner)]])));
}

/** An address without the parts that may open something: the login, and the query. */
function withoutQuery(text: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text) || !URL.canParse(text)) return text;
  const url = new URL(text);
  if (url.username === "" && url.password === "" && url.search === "") return text;
  return `${url.protocol}//${url.host}${url.pathname}${url.search === "" ? "" : "?…"}`;
}

export interface AuditDeps {
  readonly ids: Ids;
  readonly clock: Clock;
}
