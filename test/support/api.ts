/** A running server and a key to it. */
export interface Api {
  url: string;
  apiKey: string;
}

/** One call. Throws with status and answer unless it succeeds. */
export async function call<T>({ url, apiKey }: Api, method: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${apiKey}`, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text) as T;
}

interface Page<T> {
  data: T[];
  pagination: { total: number; nextCursor: string | null };
}

/** Returns the number of items in a list. */
export async function total(api: Api, path: string): Promise<number> {
  const { pagination } = await call<Page<unknown>>(api, "GET", `${path}${path.includes("?") ? "&" : "?"}limit=1`);
  return pagination.total;
}

/** All items of a list, page by page. */
export async function all<T>(api: Api, path: string): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | null = null;
  do {
    const at: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const page: Page<T> = await call(api, "GET", `${path}${path.includes("?") ? "&" : "?"}limit=100${at}`);
    items.push(...page.data);
    cursor = page.pagination.nextCursor;
  } while (cursor !== null);
  return items;
}

/** The longest pause between two looks. */
const MAX_PAUSE_MS = 250;

/** Waits until `check` answers true, looking after 20 ms and then ever more rarely. Throws after `seconds` with what `describe` says then. */
export async function until(seconds: number, check: () => Promise<boolean>, describe: () => Promise<string>): Promise<void> {
  const from = performance.now();
  while (!(await check())) {
    const waited = performance.now() - from;
    if (waited > seconds * 1000) throw new Error(`After ${seconds} s: ${await describe()}`);
    // Each look takes time of the server that is waited for: the longer it has taken, the rarer they are.
    await new Promise((next) => setTimeout(next, Math.min(20 + waited / 10, MAX_PAUSE_MS)));
  }
}
