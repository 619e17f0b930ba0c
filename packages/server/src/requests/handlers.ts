import type { contract, RequestRecord, StreamMessage } from "@mailsvc/sdk/contract";
import type { Handlers, ReadContext } from "../http/handler.ts";
import { type KeyNames, listKeyNames } from "../keys/keys.ts";
import { ApiError } from "../lib/api-error.ts";
import { createMatcher, type Matcher } from "../lib/fault-rules.ts";
import type { FollowedRequests, KeptRequest } from "./request-log.ts";
import type { RequestDeps } from "./requests.ts";

// Interval of messages while nothing happens, so that both sides notice a dead connection (real time).
const PING_MS = 15_000;

interface Filter {
  readonly failed?: boolean | undefined;
  readonly key?: string | undefined;
  readonly path?: string | undefined;
  readonly method?: string | undefined;
}

export const requestHandlers: Handlers<typeof contract.requests, RequestDeps> = {
  list: async ({ after = 0, limit, ...filter }, context) => {
    const view = await View.open(context, filter);
    const { requestStore } = context.deps;
    if (requestStore) {
      const wanted = { workspaceId: context.workspaceId, unknown: view.seesUnknown, after, limit, ...filter };
      return { data: await requestStore.listLatest(context.read, wanted, (kept) => view.show(kept)) };
    }
    const { requestLog } = context.deps;
    return { data: (await view.show((requestLog ?? refuse()).listAfter(after))).reverse().slice(0, limit) };
  },
  tail: async (filter, context) => {
    const { requestLog, requestStore } = context.deps;
    return follow(requestLog ?? requestStore ?? refuse(), await View.open(context, filter), context);
  },
};

function refuse(): never {
  throw new ApiError("invalid_state", "This server keeps no requests.", {
    hint: "Start it with --keep requests=30 to keep them for 30 days. In dev mode the latest are always kept.",
  });
}

/** The requests that a caller may see and wants. */
class View {
  readonly #context: ReadContext<RequestDeps>;
  readonly #filter: Filter;
  readonly #fits: Matcher | null;
  /** True if the caller sees the requests of no workspace. */
  readonly seesUnknown: boolean;
  #names: KeyNames = new Map();

  private constructor(context: ReadContext<RequestDeps>, filter: Filter, seesUnknown: boolean) {
    const { path } = filter;
    this.#context = context;
    this.#filter = filter;
    this.#fits = path === undefined ? null : createMatcher(path.includes("*") ? path : `${path}*`);
    this.seesUnknown = seesUnknown;
  }

  static async open(context: ReadContext<RequestDeps>, filter: Filter): Promise<View> {
    return new View(context, filter, await context.isOperator());
  }

  async show(kept: readonly KeptRequest[]): Promise<RequestRecord[]> {
    const { workspaceId } = this.#context;
    const seen = kept.filter(
      (request) => (request.workspaceId === workspaceId || (request.workspaceId === null && this.seesUnknown)) && this.#matches(request),
    );
    if (seen.some(({ keyId }) => keyId !== null && !this.#names.has(keyId)))
      this.#names = await listKeyNames(this.#context.read, workspaceId);
    return seen.map((request) => this.#toRecord(request)).filter(({ key }) => this.#isKey(key));
  }

  #matches({ method, path, route, error }: KeptRequest): boolean {
    const { failed, method: only } = this.#filter;
    if (failed !== undefined && (error !== null) !== failed) return false;
    if (only !== undefined && method !== only) return false;
    return this.#fits === null || this.#fits(path) || (route !== null && this.#fits(route));
  }

  #isKey(key: RequestRecord["key"]): boolean {
    const { key: wanted } = this.#filter;
    return wanted === undefined || (key !== null && [key.id, key.name, key.preview].includes(wanted));
  }

  #toRecord({ keyId, keyPreview, requestId, workspaceId: _, ...request }: KeptRequest): RequestRecord {
    const { name = null, preview = null } = (keyId !== null && this.#names.get(keyId)) || {};
    const key = keyId === null && keyPreview === null ? null : { id: keyId, name, preview: preview ?? keyPreview };
    return { id: requestId, ...request, key };
  }
}

async function follow(
  requests: FollowedRequests,
  view: View,
  { deps, header, read, signal: leaving }: ReadContext<RequestDeps>,
): Promise<AsyncIterable<StreamMessage<RequestRecord>>> {
  const seen = /^\d{1,15}$/.exec(header("last-event-id") ?? "")?.[0];
  const close = requests.open();
  const signal = AbortSignal.any([leaving(), deps.eventStream.stopping]);
  if (signal.aborted) close();
  else signal.addEventListener("abort", close, { once: true });

  async function* messages(): AsyncGenerator<StreamMessage<RequestRecord>> {
    try {
      const follower = await requests.begin(read, seen === undefined ? null : Number(seen));
      let heardAt = deps.clock.real.now();
      // At once, so that the client knows it is connected.
      yield { id: String(follower.last) };
      while (!signal.aborted) {
        const waiting = follower.wait(PING_MS, signal);
        for (const record of await view.show(await follower.next())) {
          if (signal.aborted) return;
          heardAt = deps.clock.real.now();
          yield { id: String(record.sequence), data: record };
        }
        await waiting;
        if (deps.clock.real.now() - heardAt < PING_MS) continue;
        heardAt = deps.clock.real.now();
        yield { id: String(follower.last) };
      }
    } finally {
      signal.removeEventListener("abort", close);
      if (!signal.aborted) close();
    }
  }
  return messages();
}
