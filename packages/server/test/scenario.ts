import { type Endpoint, ERRORS, ErrorBody, type ErrorCode } from "@mailsvc/sdk/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createWorld, type TestWorld, type WorldOptions } from "../src/testing.ts";

/** A request and the expected response. */
export interface Scenario {
  readonly name: string;
  /** POST by default. */
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The key to send; the owner key by default, null for none. */
  readonly key?: string | null;
  /** Objects are sent as JSON, texts and bytes as they are. */
  readonly body?: unknown;
  readonly status: number;
  /** The expected error code. */
  readonly code?: ErrorCode;
  /** All details of the expected error, in order, each as `path code`. */
  readonly details?: readonly string[];
  readonly contains?: readonly string[];
  /** Texts that must not occur in the response. */
  readonly lacks?: readonly string[];
  /** Expected response headers. */
  readonly answers?: Readonly<Record<string, string>>;
}

/** Facts about storage, code and files that no response may reveal. */
const SECRETS = [
  /SQLITE/i,
  /drizzle/i,
  /\binsert into\b/i,
  /\bselect .* from\b/i,
  /node_modules/,
  /\.ts:\d/,
  /\bat .*\(.*:\d+:\d+\)/,
  /better-sqlite3/,
  /\/tmp\//,
];

/** Sends a scenario's request. */
export async function ask(
  world: Pick<TestWorld, "fetch" | "url" | "apiKey">,
  scenario: Omit<Scenario, "name" | "status">,
): Promise<Response> {
  const key = scenario.key === undefined ? world.apiKey : scenario.key;
  const body = encodeBody(scenario.body);
  return world.fetch(world.url + scenario.path, {
    method: scenario.method ?? "POST",
    headers: {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...scenario.headers,
    },
    ...(body !== undefined && { body, duplex: "half" }),
  } as RequestInit);
}

/** Checks a response against its scenario. */
export async function expectAnswer(response: Response, row: Scenario, key: string): Promise<void> {
  const text = await response.text();
  expect({ status: response.status, text }).toMatchObject({ status: row.status });
  const requestId = response.headers.get("x-request-id");
  expect(requestId).toMatch(/^req_[0-9a-z]{26}$/);
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  for (const secret of SECRETS) expect(text).not.toMatch(secret);
  expect(text).not.toContain(key);
  for (const part of row.contains ?? []) expect(text).toContain(part);
  for (const part of row.lacks ?? []) expect(text).not.toContain(part);
  for (const [name, value] of Object.entries(row.answers ?? {})) expect(response.headers.get(name)).toBe(value);
  if (row.status < 400 || text === "") return;
  const { error } = ErrorBody.strict().parse(JSON.parse(text));
  expect(error).toMatchObject({ status: row.status, requestId });
  expect(ERRORS[error.code].status).toBe(row.status);
  expect(error.message).toMatch(/[.:!?…"]$|\.$/);
  expect(error.hint).not.toBe("");
  if (row.code !== undefined) expect(error.code).toBe(row.code);
  if (row.details !== undefined) expect(error.details.map((d) => `${d.path} ${d.code}`)).toEqual(row.details);
}

interface TableContext {
  readonly world: TestWorld;
}

/** Runs a table of scenarios against one world; `afterwards` then checks the state they left. */
export function scenarios(
  title: string,
  rows: readonly Scenario[] | ((context: TableContext) => readonly Scenario[]),
  options: { world?: WorldOptions; before?: (world: TestWorld) => Promise<void>; afterwards?: (world: TestWorld) => Promise<void> } = {},
): void {
  describe(title, () => {
    let world: TestWorld;
    const context: TableContext = {
      get world() {
        return world;
      },
    };
    beforeAll(async () => {
      world = await createWorld(options.world);
      await options.before?.(world);
    });
    afterAll(() => world.dispose());
    if (typeof rows === "function") {
      test("every row", async () => {
        for (const row of rows(context)) await expectAnswer(await ask(world, row), row, world.apiKey);
      });
    } else {
      for (const row of rows) test(row.name, async () => expectAnswer(await ask(world, row), row, world.apiKey));
    }
    const { afterwards } = options;
    if (afterwards) test("and none of them left a trace", async () => afterwards(world));
  });
}

function encodeBody(body: unknown): BodyInit | undefined {
  if (body === undefined || typeof body === "string" || body instanceof ReadableStream) return body;
  return body instanceof Uint8Array ? Uint8Array.from(body) : JSON.stringify(body);
}

/** The path of an endpoint, asked so that it answers at once: a few wait for mail, ten seconds unless told otherwise. */
export function pathAtOnce({ path, query }: Pick<Endpoint, "path" | "query">): string {
  return "timeout" in (query?.shape ?? {}) ? `${path}?timeout=0` : path;
}
