import { execFile } from "node:child_process";
import { once } from "node:events";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { ReadableStream } from "node:stream/web";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual, promisify } from "node:util";
import { runInThisContext } from "node:vm";
import { AgentClient, ApiError, Mailsvc } from "@mailsvc/sdk";
import { type Endpoint, isForAgents, paramNames, served } from "@mailsvc/sdk/contract";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { cli, TERMINAL } from "../packages/cli/test/harness.ts";
import { blocksOf } from "./markdown.ts";
import { MARKETPLACE } from "./support/example-agents.ts";
import { SENDING } from "./support/example-objects.ts";
import { type ExampleServer, type Ids, openExampleServer } from "./support/example-server.ts";
import { isAlike, readAnswers, showAnswer, writeAnswers } from "./support/shown-answers.ts";

/*
 * Every call that the reference shows is made, with curl, with the SDK and on the command line, on a server that has the objects which
 * the examples name: it is understood, succeeds, and is answered as the reference shows.
 */

const root = fileURLToPath(new URL("../", import.meta.url));
const OBJECTS = { ...SENDING, ...MARKETPLACE };

/** Statuses of calls that cannot succeed as the reference shows them, because it cannot show the objects they need. */
const REFUSED: Readonly<Record<string, number>> = {
  // A job is dead only after a fault of the server.
  "jobs.retry": 404,
  // A session belongs to a browser that has signed in.
  "dashboard.signOut": 404,
  "dashboard.signOutPerson": 404,
  // Only providers call these, with signatures, and only where they are configured.
  "stripe.webhook": 404,
  "inbound.connection": 404,
};

/** The examples of an endpoint, by the label of their block. */
const examples = new Map<string, ReadonlyMap<string, string>>();
for (const page of globSync("docs/reference/*.md", { cwd: root })) {
  const calls = blocksOf(join(root, page)).filter(({ label }) => label !== "");
  for (const [id, blocks] of Map.groupBy(calls, ({ heading }) => heading))
    examples.set(id, new Map(blocks.map(({ label, text }) => [label, text.trim()])));
}

/** The answers that it shows, and those that are recorded anew, by endpoint. */
const shownAnswers = new Map<string, unknown>();
for (const page of globSync("docs/reference/*.md", { cwd: root }))
  for (const { language, heading, text } of blocksOf(join(root, page)))
    if (language === "json") shownAnswers.set(heading, JSON.parse(text));
const recorded: Record<string, unknown> = {};
const isRecording = process.env.RECORD_ANSWERS !== undefined;

let folder = "";
let server: Server;
let current: ExampleServer | undefined;
/** The call that curl made last, and how it was answered. */
let last: { readonly call: Made; readonly answer: Response } | undefined;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "mailsvc-reference-"));
  writeFileSync(join(folder, "contacts.csv"), "email,first_name\nada@example.com,Ada\n");
  writeFileSync(join(folder, "suppressions.csv"), "email,reason\nada@example.com,bounce\n");
  // curl needs a port; behind it is the server of the example that is tried.
  server = createServer(async (request, response) => {
    const { method = "GET", url = "/" } = request;
    const body = method === "GET" ? undefined : new Uint8Array(await buffer(request));
    const headers = Object.entries(request.headers).filter(([name]) => /^(?:authorization|content-type|idempotency-key)$/.test(name));
    const { world } = current as ExampleServer;
    const call = new Request(`${world.url}${url}`, { method, headers: headers as [string, string][], ...(body && { body }) });
    const made = await readCall(call.clone());
    const answer = await world.fetch(call);
    if (method !== "GET") last = { call: made, answer: answer.clone() };
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
    response.flushHeaders();
    if (answer.body) Readable.fromWeb(answer.body as ReadableStream).pipe(response);
    else response.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(async () => {
  if (isRecording) writeAnswers({ ...readAnswers(), ...recorded });
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const endpoints = Object.entries(served).flatMap(([noun, verbs]) =>
  Object.entries(verbs).map(([verb, endpoint]): [string, Endpoint] => [`${noun}.${verb}`, endpoint]),
);

test("the reference shows a call of each endpoint", () => {
  expect([...examples.keys()].sort()).toEqual(endpoints.map(([id]) => id).sort());
});

test.each(endpoints.filter((_, place) => place % inject("oneCaseIn") === 0))("the calls of %s are understood", async (id, endpoint) => {
  const noun = id.slice(0, id.lastIndexOf("."));
  const shown = [...(examples.get(id) ?? [])] as [keyof typeof CALLS, string][];
  const { fileName, contentBase64 } = (endpoint.examples?.[0]?.body ?? {}) as { fileName?: string; contentBase64?: string };
  if (fileName && contentBase64) writeFileSync(join(folder, fileName), Buffer.from(contentBase64, "base64"));
  const tried = async (its: ExampleServer, calls: typeof shown): Promise<Record<string, number>> => {
    current = its;
    last = undefined;
    const ids = await (OBJECTS[id] ?? OBJECTS[noun])?.(its);
    const keys = await keysFor(its, noun, endpoint);
    const statuses: Record<string, number> = {};
    for (const [label, text] of calls) {
      const fetch = last === undefined ? its.world.fetch : repeat(last, its.world.fetch);
      const status = await CALLS[label](fill(text, ids ?? {}), keys, { url: its.world.url, fetch }, endpoint).catch(
        (error: Error) => error,
      );
      if ("differs" in fetch && fetch.differs) continue;
      if (status instanceof Error) throw status;
      statuses[label] = status;
    }
    if ("curl" in statuses && showsAnswer(id, endpoint)) {
      const answer = showAnswer(JSON.parse(readFileSync(join(folder, "answer"), "utf8")), ids ?? {});
      const advice = `${JSON.stringify(answer, null, 2)}\nRECORD_ANSWERS=1, then npm run generate.`;
      if (!isRecording) expect(isAlike(answer, shownAnswers.get(id)), advice).toBe(true);
      else if ((statuses["curl"] ?? 0) < 300) recorded[id] = answer;
    }
    return statuses;
  };
  const statuses: Record<string, number> = {};
  // A read leaves the objects to the next call. A write gets new ones, unless it makes the request that curl has made.
  for (let left = shown; left.length > 0; left = left.filter(([label]) => !(label in statuses))) {
    await using its = await openExampleServer();
    Object.assign(statuses, await tried(its, endpoint.method === "GET" || left === shown ? left : left.slice(0, 1)));
  }
  const expected = REFUSED[id] ?? expect.toSatisfy((status: number) => status >= 200 && status < 300);
  const advice = `After a 404, add what the example of ${id} names to test/support/example-objects.ts.`;
  expect(statuses, advice).toEqual(Object.fromEntries(shown.map(([label]) => [label, expected])));
});

test("the reference shows an answer of each endpoint that answers JSON", () => {
  const answering = endpoints.filter(([id, endpoint]) => showsAnswer(id, endpoint));
  expect([...shownAnswers.keys()].sort()).toEqual(answering.map(([id]) => id).sort());
});

test("no call has a gap in place of an id", () => {
  const hasGap = ([id, { path }]: [string, Endpoint]): boolean =>
    paramNames(path).some((name) => [...(examples.get(id)?.values() ?? [])].some((text) => text.includes(`<${name}>`)));
  expect(endpoints.filter(hasGap).map(([id]) => id)).toEqual([]);
});

/** True if the reference shows an endpoint's answer: not texts, endless streams, and the document of the API, which is a file. */
function showsAnswer(id: string, { produces, stream }: Endpoint): boolean {
  return !(id in REFUSED) && id !== "health.openapi" && produces === undefined && stream !== true;
}

function fill(text: string, ids: Ids): string {
  return Object.entries(ids).reduce((said, [there, here]) => said.replaceAll(`'${there}'`, here).replaceAll(there, here), text);
}

async function keysFor({ world, agent }: ExampleServer, noun: string, { access }: Endpoint): Promise<Record<string, string>> {
  const ofBuilder = ["listings", "deliveries", "payments"].includes(noun);
  const keys = { MAILSVC_API_KEY: ofBuilder ? world.builder.apiKey : world.apiKey, MAILSVC_OPERATOR_KEY: world.operatorKey };
  if (!isForAgents(access)) return keys;
  const { key, activationId } = await agent();
  return { ...keys, MAILSVC_AGENT_KEY: key, MAILSVC_ACTIVATION_ID: activationId };
}

/** The parts of a request that make it the same as another. */
interface Made {
  readonly line: string;
  readonly key: string | null;
  readonly body: unknown;
}

async function readCall(request: Request): Promise<Made> {
  const { pathname, searchParams } = new URL(request.url);
  searchParams.sort();
  const text = await request.text();
  const isJson = request.headers.get("content-type")?.startsWith("application/json") === true && text !== "";
  return {
    line: `${request.method} ${pathname}?${searchParams}`,
    key: request.headers.get("authorization"),
    body: isJson ? JSON.parse(text) : text,
  };
}

/**
 * A fetch that answers a request as it was answered to curl, and `inProcess` those after it. Where the first one is another, it `differs`
 * and is not made.
 */
function repeat({ call, answer }: NonNullable<typeof last>, inProcess: typeof fetch): typeof fetch & { readonly differs: boolean } {
  let isMade = false;
  const repeated = async (...[input, init]: Parameters<typeof fetch>): Promise<Response> => {
    if (isMade) return inProcess(input, init);
    fetching.differs = !isDeepStrictEqual(await readCall(new Request(input, init)), call);
    if (fetching.differs) return Response.json({ error: { code: "differs", message: "curl made another request." } }, { status: 400 });
    isMade = true;
    return answer.clone();
  };
  const fetching = Object.assign(repeated, { differs: false });
  return fetching;
}

/** A fetch that tells the status of the first response. */
function observe(inProcess: typeof fetch): { fetch: typeof fetch; answered: Promise<number> } {
  const { promise: answered, resolve } = Promise.withResolvers<number>();
  const recording: typeof fetch = async (input, init) => {
    const response = await inProcess(input, init);
    resolve(response.status);
    return response;
  };
  return { fetch: recording, answered };
}

/** The server that is called. */
interface Service {
  readonly url: string;
  readonly fetch: typeof fetch;
}

type Call = (text: string, keys: Readonly<Record<string, string>>, service: Service, endpoint: Endpoint) => Promise<number>;

/** Ways to make a call; each returns the status of the response. */
const CALLS: Readonly<Record<"curl" | "SDK" | "Command line", Call>> = {
  curl: async (text, keys, _service, { stream }) => {
    const env = { ...process.env, ...keys, MAILSVC_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
    // A stream never ends.
    const command = text.replace(/^curl/, `curl -sS ${stream ? "--max-time 1" : ""} -o ${join(folder, "answer")} -w '%{http_code}'`);
    const { stdout } = await promisify(execFile)("bash", ["-c", `${command} || test $? -eq 28`], { env });
    return Number(stdout);
  },
  SDK: async (text, keys, service, { access, stream }) => {
    const { fetch, answered } = observe(service.fetch);
    const client = new Mailsvc({
      baseUrl: service.url,
      apiKey: keys[access === "operator" ? "MAILSVC_OPERATOR_KEY" : "MAILSVC_API_KEY"] ?? "",
      fetch,
    });
    const { MAILSVC_ACTIVATION_ID: activationId = "none", MAILSVC_AGENT_KEY: apiKey = "none" } = keys;
    const agent = new AgentClient({ baseUrl: service.url, activationId, apiKey, fetch });
    const made: Promise<unknown> = runInThisContext(`(async (client, agent) => { ${text} })`)(client, agent);
    const refusal = (error: Error): number => {
      if (error instanceof ApiError) return error.status;
      throw error;
    };
    return Promise.race([made.then(() => answered, refusal), ...(stream ? [answered] : [])]);
  },
  "Command line": async (text, keys, service, { stream }) => {
    const { fetch, answered } = observe(service.fetch);
    const words = [...text.matchAll(/(?:'[^']*'|\\'|[^\s'])+/g)].map(([word]) =>
      word.replace(/'([^']*)'|\\(')/g, (_all, quoted, mark) => quoted ?? mark),
    );
    const setup = { env: { ...keys, MAILSVC_URL: service.url }, fetch, home: folder, tty: TERMINAL, answers: ["y"] };
    const interrupt = (signal: (name: "SIGINT") => void) => void (stream && answered.then(() => signal("SIGINT")));
    const { code, stderr } = await cli(words.slice(2), { ...setup, onStart: interrupt });
    const status = await Promise.race([answered, Promise.resolve(0)]);
    if (code !== 0 && !stream && status < 400) throw new Error(`${text}: exit ${code}\n${stderr}`);
    return status;
  },
};
