import type { Contract, Endpoint } from "@mailsvc/sdk/contract";
import { paramNames } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import type { Input } from "../http/call.ts";
import type { ChangeRecorder, RecordedWrite } from "../http/change-recorder.ts";
import { nameCaller } from "../keys/keys.ts";
import { ApiError } from "../lib/api-error.ts";
import { isAudited } from "./audited.ts";
import type { AuditDeps } from "./deps.ts";
import { listChanges } from "./diff.ts";
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
    const name = shown?.["name"] ?? shown?.["email"] ?? shown?.["slug"] ?? null;
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
