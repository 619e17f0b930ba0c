import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { Pool } from "undici";
import { seededRandom } from "../../packages/server/src/lib/random.ts";
import { startPostgres } from "../../packages/server/test/postgres-server.ts";
import { startServer } from "../support/server.ts";
import type { Part } from "./part.ts";
import { type FuzzRequest, type OpenApi, RequestMaker } from "./requests.ts";
import { chooseBy } from "./values.ts";

const REQUESTS = 50_000;
const STEPS = 20;
const CONNECTIONS = 32;
/** A request that has no answer by then hangs. */
const HANG_MS = 60_000;
const MAX_FAILURES = 20;
const FLAGS = ["--dev", "--rate-limit", "send=1000000,write=1000000,read=1000000"];

/** A million requests made of openapi.json, against what it promises. */
export const fuzz: Part = {
  name: "fuzz",
  title: "Random requests",
  meaning:
    "Requests are made of openapi.json: right ones, ones with a wrong value in one place, and bytes that are no JSON. None may be answered by 5xx or not at all, and each answer must be of the form that openapi.json gives for its status.",
  steps: (share) => Math.max(2, Math.round(STEPS * share)),
  run: async (step, { seed, share }) => {
    const folder = mkdtempSync(join(tmpdir(), "mailsvc-proof-"));
    const database = step % 2 === 0 ? null : await startPostgres();
    const server = startServer({
      data: join(folder, "data"),
      flags: [...FLAGS, ...(database === null ? [] : ["--database-url", database.url])],
    });
    try {
      const ready = await server.ready();
      if (!ready?.apiKey) throw new Error(`The server did not start:\n${server.stderr()}`);
      const requests = share < 1 ? Math.max(500, Math.round(REQUESTS * share)) : REQUESTS;
      const found = await send({ url: ready.url, apiKey: ready.apiKey, requests, seed });
      const health = await fetch(`${ready.url}/healthz`).then(({ status }) => status, String);
      if (health !== 200) found.failures.push(`/healthz answered ${health} afterwards.`);
      const ended = await server.kill("SIGTERM");
      if (ended.code !== 0) found.failures.push(`The server ended with ${JSON.stringify(ended)}: ${server.stderr().slice(-1000)}`);
      return { ...found, rows: [] };
    } finally {
      await server.kill("SIGKILL");
      await database?.dispose();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

interface Load {
  readonly url: string;
  readonly apiKey: string;
  readonly requests: number;
  readonly seed: number;
}

async function send({ url, apiKey, requests, seed }: Load): Promise<{ counts: Record<string, number>; failures: string[] }> {
  const document = JSON.parse(readFileSync(new URL("../../openapi.json", import.meta.url), "utf8")) as OpenApi;
  const judge = new Judge(document);
  const maker = new RequestMaker(document, apiKey, chooseBy(seededRandom(seed).fraction));
  const pool = new Pool(url, { connections: CONNECTIONS, headersTimeout: HANG_MS, bodyTimeout: HANG_MS });
  const counts: Record<string, number> = { requests: 0, serverErrors: 0, unexpected: 0 };
  const failures: string[] = [];
  const fail = (request: FuzzRequest, why: string): void => {
    counts["unexpected"] = (counts["unexpected"] ?? 0) + 1;
    const about = `${request.method} ${request.path.slice(0, 300)} ${request.body?.toString().slice(0, 500) ?? ""}`;
    if (failures.length < MAX_FAILURES) failures.push(`seed ${seed}: ${request.operation.id}: ${why}\n${about}`);
  };
  const client = async (): Promise<void> => {
    while ((counts["requests"] ?? 0) < requests) {
      counts["requests"] = (counts["requests"] ?? 0) + 1;
      const request = maker.next();
      try {
        const { method, path, headers, body } = request;
        const response = await pool.request({ method: method as "GET", path, headers, ...(body !== undefined && { body }) });
        const text = await response.body.text();
        const status = response.statusCode;
        const group = `${Math.floor(status / 100)}xx`;
        counts[group] = (counts[group] ?? 0) + 1;
        if (status >= 500) counts["serverErrors"] = (counts["serverErrors"] ?? 0) + 1;
        const wrong = judge.find(request, status, String(response.headers["content-type"] ?? ""), text);
        if (wrong !== null) fail(request, wrong);
        maker.learn(text);
      } catch (error) {
        fail(request, `no answer: ${error}`);
      }
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
  await pool.close();
  return { counts, failures };
}

/** Compares answers with what openapi.json says of them. */
class Judge {
  readonly #ajv: Ajv2020;
  readonly #checks = new Map<string, ValidateFunction>();

  constructor(document: OpenApi) {
    this.#ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: true });
    addFormats.default(this.#ajv);
    this.#ajv.addSchema({ $id: "api", components: document.components });
  }

  /** Returns the fault of an answer; null for none. */
  find({ operation, method }: FuzzRequest, status: number, contentType: string, text: string): string | null {
    if (status >= 500) return `${status} ${text.slice(0, 300)}`;
    // The answer of another operation, or of none.
    if (method !== operation.method || !contentType.startsWith("application/json")) return null;
    const schema = operation.answers.get(status);
    if (schema === undefined) return `${status} is not in openapi.json: ${text.slice(0, 300)}`;
    const key = `${operation.id} ${status}`;
    const check = this.#checks.get(key) ?? this.#ajv.compile(pointedAt(schema));
    this.#checks.set(key, check);
    if (check(JSON.parse(text))) return null;
    const [error] = check.errors ?? [];
    return `${status} is not as openapi.json says: ${error?.instancePath} ${error?.message}: ${text.slice(0, 300)}`;
  }
}

/** A schema whose references lead into the document that is known as "api". */
function pointedAt(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"api#/')) as object;
}
