import { contract, type Endpoint } from "@mailsvc/sdk/contract";
import { other, TENANTS, type Tenant } from "../script.ts";
import type { Universe } from "../universe.ts";

const ENDPOINTS: readonly Endpoint[] = Object.values(contract).flatMap((verbs) => Object.values<Endpoint>(verbs));

/** Calls of a workspace with its own key. */
const OWN = ENDPOINTS.filter(({ access, path }) => (access === "key" || typeof access === "object") && path.startsWith("/api/"));

/** Lists of the API that take no name of an object. */
const LISTS = ENDPOINTS.filter(
  ({ method, path }) => method === "GET" && path.startsWith("/api/") && !path.includes(":") && !/stream|wait|export|download/.test(path),
).map(({ path }) => path);

/** Objects of a list that are tried: its first and its last. */
const TRIED = 2;

type Item = Readonly<Record<string, unknown>>;

/**
 * Asks for every list as both workspaces; faults of an answer are noted as it comes. Then each workspace makes every call of the API that
 * names an object with objects of the other one. Says which calls were carried out.
 */
export async function findReachable(universe: Universe): Promise<string[]> {
  const lists: Record<Tenant, Map<string, readonly Item[]>> = { a: await askForLists(universe, "a"), b: await askForLists(universe, "b") };
  const found: string[] = [];
  for (const tenant of TENANTS) {
    const stranger = other(tenant);
    for (const [path, items] of lists[tenant]) {
      const theirs = new Set((lists[stranger].get(path) ?? []).map(({ id }) => id));
      // Objects that both see are nobody's, such as those of the catalog.
      const own = items.filter(({ id }) => typeof id === "string" && !theirs.has(id));
      for (const item of [...new Set([own[0], own.at(-1)])].slice(0, TRIED))
        if (item) found.push(...(await reach(universe, { stranger, path, id: String(item["id"]) })));
    }
  }
  return found;
}

async function askForLists(universe: Universe, tenant: Tenant): Promise<Map<string, readonly Item[]>> {
  const found = new Map<string, readonly Item[]>();
  for (const path of LISTS) {
    const response = await ask(universe, tenant, "GET", path);
    const answer = response.status === 200 ? ((await response.json()) as { readonly data?: unknown }) : {};
    if (Array.isArray(answer.data)) found.set(path, answer.data as readonly Item[]);
  }
  return found;
}

interface Foreign {
  /** The workspace that the object is not of. */
  readonly stranger: Tenant;
  /** The list that has the object. */
  readonly path: string;
  readonly id: string;
}

async function reach(universe: Universe, { stranger, path: list, id }: Foreign): Promise<string[]> {
  const found: string[] = [];
  for (const { method, path, examples } of OWN) {
    const rest = path.startsWith(`${list}/:`) ? path.slice(list.length + 1).replace(/^:\w+/, "") : null;
    // A stream or a download of a foreign object would be refused like all else; one of an own object would not end.
    if (rest === null || rest.includes(":") || /stream|wait/.test(rest)) continue;
    const body = method === "GET" ? undefined : JSON.stringify(examples?.[0]?.body ?? {});
    const { status } = await ask(universe, stranger, method, `${list}/${encodeURIComponent(id)}${rest}`, body);
    if (status < 300) found.push(`${stranger} gets ${status} from ${method} ${path} for ${id}, which is not its own.`);
  }
  return found;
}

function ask(universe: Universe, tenant: Tenant, method: string, path: string, body?: string): Promise<Response> {
  const headers = { authorization: `Bearer ${universe.keyOf(tenant)}`, "content-type": "application/json" };
  return universe.fetchAs(tenant)(universe.world.url + path, { method, headers, ...(body !== undefined && { body }) });
}
