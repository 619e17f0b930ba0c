/** A former service for tests: answers as the real one does, and counts what it was asked. */
export interface FormerService {
  readonly fetch: typeof globalThis.fetch;
  /** Paths with their queries, in the order of the requests. */
  readonly asked: string[];
}

const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } });

export interface FakeSubscriber {
  id: number;
  email: string;
  name?: string;
  attribs?: Record<string, unknown>;
  status?: string;
  lists?: { id: number; subscription_status: string }[];
}

export interface FakeListmonk {
  lists: { id: number; name: string; type?: string; optin?: string; description?: string }[];
  subscribers: FakeSubscriber[];
  bounces?: { id: number; type: string; email: string }[];
  templates?: { id: number; name: string; type: string; subject?: string; body: string }[];
  /** Called before each request; a response takes the place of the service's own. */
  before?: (path: string, n: number) => Response | undefined;
}

/** listmonk's API: names and tokens, pages of at most 50, sorting, `results: []` behind the last page. */
export function fakeListmonk(origin: string, data: FakeListmonk): FormerService {
  const asked: string[] = [];
  const page = <T extends { id: number }>(rows: readonly T[], url: URL): Response => {
    const size = Math.min(50, Number(url.searchParams.get("per_page") ?? 20));
    const number = Number(url.searchParams.get("page") ?? 1);
    const by = url.searchParams.get("order_by") === "email" ? "email" : "id";
    const sorted = [...rows].sort((a, b) => {
      const [left, right] = [(a as Record<string, unknown>)[by], (b as Record<string, unknown>)[by]];
      return typeof left === "number" ? left - (right as number) : String(left) < String(right) ? -1 : 1;
    });
    return json({ data: { results: sorted.slice((number - 1) * size, number * size), total: rows.length, per_page: size, page: number } });
  };
  return {
    asked,
    fetch: async (input, init) => {
      const url = new URL(String(input));
      if (url.origin !== origin) throw new TypeError("fetch failed");
      asked.push(`${url.pathname}${url.search}`);
      const instead = data.before?.(url.pathname, asked.length);
      if (instead) return instead;
      if (new Headers(init?.headers).get("authorization") !== `Basic ${btoa("mover:secret")}`)
        return json({ message: "invalid API credentials" }, 403);
      if (url.pathname === "/api/lists")
        return page(
          data.lists.map((list) => ({ type: "public", optin: "single", ...list })),
          url,
        );
      if (url.pathname === "/api/subscribers")
        return page(
          data.subscribers.map((one) => ({ name: "", attribs: {}, status: "enabled", lists: [], ...one })),
          url,
        );
      if (url.pathname === "/api/bounces") return page(data.bounces ?? [], url);
      if (url.pathname === "/api/templates") return json({ data: data.templates ?? [] });
      return json({ message: "Not Found" }, 404);
    },
  };
}

interface FakeResend {
  segments?: { id: string; name: string }[];
  topics?: { id: string; name: string; visibility?: string }[];
  contacts: {
    id: string;
    email: string;
    first_name?: string | null;
    last_name?: string | null;
    unsubscribed?: boolean;
    properties?: Record<string, unknown>;
    segments?: string[];
    topics?: Record<string, "opt_in" | "opt_out">;
  }[];
  suppressions?: { id: string; email: string; origin: string }[];
  templates?: Record<string, unknown>[];
}

/** Resend's API: keys, pages of at most 100 that continue after an id, and a limit of requests a second. */
export function fakeResend(data: FakeResend, perSecond = 5): FormerService {
  const asked: string[] = [];
  let inWindow = 0;
  const page = <T extends { id?: unknown }>(rows: readonly T[], url: URL): Response => {
    const limit = Math.min(100, Number(url.searchParams.get("limit") ?? 20));
    const after = url.searchParams.get("after");
    const from = after === null ? 0 : rows.findIndex(({ id }) => id === after) + 1;
    const some = rows.slice(from, from + limit);
    return json({ object: "list", has_more: from + limit < rows.length, data: some });
  };
  const answer = (url: URL): Response => {
    const { pathname, searchParams } = url;
    const [, noun = "", id = "", part = ""] = pathname.split("/");
    const contact = data.contacts.find((one) => one.id === id);
    if (noun === "segments" && id === "") return page(data.segments ?? [], url);
    if (noun === "topics" && id === "") return page(data.topics ?? [], url);
    if (noun === "suppressions" && id === "") return page(data.suppressions ?? [], url);
    if (noun === "templates" && id === "") return page(data.templates ?? [], url);
    if (noun === "templates") return json(data.templates?.find((one) => one["id"] === id) ?? { name: "not_found" });
    if (noun === "contacts" && part === "topics")
      return page(
        Object.entries(contact?.topics ?? {}).map(([topic, subscription]) => ({ id: topic, name: topic, subscription })),
        url,
      );
    if (noun === "contacts" && contact) return json({ object: "contact", ...show(contact), properties: contact.properties ?? {} });
    if (noun !== "contacts") return json({ statusCode: 404, name: "not_found", message: "The requested endpoint does not exist" }, 404);
    const segment = searchParams.get("segment_id");
    return page(data.contacts.filter((one) => segment === null || one.segments?.includes(segment)).map(show), url);
  };
  return {
    asked,
    fetch: async (input, init) => {
      const url = new URL(String(input));
      if (url.origin !== "https://api.resend.com") throw new TypeError("fetch failed");
      asked.push(`${url.pathname}${url.search}`);
      if (new Headers(init?.headers).get("authorization") !== "Bearer re_secret")
        return json({ statusCode: 401, name: "restricted_api_key", message: "This API key is restricted to only send emails" }, 401);
      inWindow += 1;
      if (inWindow > perSecond) {
        inWindow = 0;
        return json({ statusCode: 429, name: "rate_limit_exceeded", message: "Too many requests" }, 429, { "retry-after": "1" });
      }
      return answer(url);
    },
  };
}

function show({ id, email, first_name = null, last_name = null, unsubscribed = false }: FakeResend["contacts"][number]) {
  return { id, email, first_name, last_name, unsubscribed, created_at: "2026-01-01 00:00:00+00" };
}
