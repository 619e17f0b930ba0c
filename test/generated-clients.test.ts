import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startServer } from "./dev-server.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const tools = join(root, "test/clients/node_modules");
const run = promisify(execFile);

/** The part of both programs about a webhook: verifies it, and reads its data by its type. */
const RECEIVE = `
import { readFileSync } from "node:fs";
import { Webhook } from "standardwebhooks";

const [url = "", key = "", file = ""] = process.argv.slice(2);
const { secret, body, headers } = JSON.parse(readFileSync(file, "utf8")) as { secret: string; body: string; headers: Record<string, string> };
 export const verified: unknown = new Webhook(secret).verify(body, headers);
 export { key, url };
`;

const OPENAPI_TYPESCRIPT = `
import { key, url, verified } from "./receive.ts";
import type { components, paths, webhooks } from "./schema.ts";

type Send = paths["/api/v1/send"]["post"];
type List = paths["/api/v1/emails"]["get"];
type Event = components["schemas"]["Event"];
type Sent = webhooks["email.sent"]["post"]["requestBody"]["content"]["application/json"];

const headers = { authorization: \`Bearer \${key}\`, "content-type": "application/json" };
const body: Send["requestBody"]["content"]["application/json"] = {
  from: "hello@acme.example",
  to: "ada@example.com",
  subject: "Typed",
  text: "It works.",
};
const sending = await fetch(\`\${url}/api/v1/send\`, { method: "POST", headers, body: JSON.stringify(body) });
const sent = (await sending.json()) as Send["responses"][200]["content"]["application/json"];
const query: NonNullable<List["parameters"]["query"]> = { limit: 5 };
const listing = await fetch(\`\${url}/api/v1/emails?limit=\${query.limit}\`, { headers });
const page = (await listing.json()) as List["responses"][200]["content"]["application/json"];
const event = verified as Event;
let response: string | null = null;
if (event.type === "email.sent") {
  const narrowed: Sent = event;
  response = narrowed.data.response;
  // @ts-expect-error Other types have this field.
  void narrowed.data.listId;
}
const subjects: (string | null)[] = page.data.map(({ subject }) => subject);
console.log(JSON.stringify({ sent: "id" in sent ? sent.id : null, subjects, response }));
`;

const HEY_API = `
import { client } from "./client/client.gen.ts";
import { emailsList, emailsSend } from "./client/index.ts";
import type { EmailSentEvent, Event } from "./client/index.ts";
import { key, url, verified } from "./receive.ts";

client.setConfig({ baseUrl: url, auth: () => key, throwOnError: true });
const sent = await emailsSend({
  body: { from: "hello@acme.example", to: "ada@example.com", subject: "Typed", text: "It works." },
  throwOnError: true,
});
const page = await emailsList({ query: { limit: 5 }, throwOnError: true });
const event = verified as Event;
let response: string | null = null;
if (event.type === "email.sent") {
  const narrowed: EmailSentEvent = event;
  response = narrowed.data.response;
  // @ts-expect-error Other types have this field.
  void narrowed.data.listId;
}
const subjects: (string | null)[] = page.data.data.map(({ subject }) => subject);
console.log(JSON.stringify({ sent: "id" in sent.data ? sent.data.id : null, subjects, response }));
`;

const TSCONFIG = {
  compilerOptions: {
    ...{ strict: true, noEmit: true, allowImportingTsExtensions: true, skipLibCheck: false },
    ...{ exactOptionalPropertyTypes: false, noUncheckedIndexedAccess: true, useUnknownInCatchVariables: true },
    ...{ target: "es2023", module: "nodenext", moduleResolution: "nodenext", lib: ["es2023", "dom", "dom.iterable"], types: ["node"] },
  },
  include: ["*.ts"],
};

let folder: string;
let server: Awaited<ReturnType<typeof startServer>>;
let received: { secret: string; body: string; headers: Record<string, string> };

beforeAll(async () => {
  server = await startServer();
  received = await receiveSent(server.url, server.apiKey);
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

/** The request that a webhook gets for a mail that was sent. */
async function receiveSent(url: string, apiKey: string): Promise<typeof received> {
  const call = async (path: string, body: object): Promise<unknown> => {
    const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
    const answer = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    expect(answer.ok, await answer.clone().text()).toBe(true);
    return answer.json();
  };
  const receiver = createServer().listen(0, "127.0.0.1");
  await once(receiver, "listening");
  try {
    const { port } = receiver.address() as AddressInfo;
    const request = once(receiver, "request");
    const { secret } = (await call("/api/v1/v1/webhooks", {
      url: `http://127.0.0.1:${port}/`,
      events: ["email.sent"],
    })) as { secret: string };
    await call("/api/v1/send", { from: "hello@acme.example", to: "ada@example.com", subject: "First", text: "One." });
    const [incoming, answer] = (await request) as [import("node:http").IncomingMessage, import("node:http").ServerResponse];
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    answer.end();
    return { secret, body: Buffer.concat(chunks).toString(), headers: incoming.headers as Record<string, string> };
  } finally {
    receiver.closeAllConnections();
    receiver.close();
  }
}

/** Generates a client, compiles a program with it strictly, and runs the program. */
async function tryClient(program: string, generate: (folder: string) => Promise<unknown>): Promise<unknown> {
  folder = mkdtempSync(join(tmpdir(), "mailsvc-client-"));
  try {
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(TSCONFIG));
    writeFileSync(join(folder, "receive.ts"), RECEIVE);
    writeFileSync(join(folder, "program.ts"), program);
    writeFileSync(join(folder, "received.json"), JSON.stringify(received));
    await generate(folder);
    const compiled = await run(process.execPath, [join(tools, "typescript/bin/tsc"), "-p", folder]).catch(
      (error: { stdout: string }) => error,
    );
    expect(compiled.stdout).toBe("");
    const { stdout } = await run(process.execPath, [join(folder, "program.ts"), server.url, server.apiKey, join(folder, "received.json")]);
    return JSON.parse(stdout);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const WORKED = {
  sent: expect.stringMatching(/^em_/),
  subjects: expect.arrayContaining(["Typed", "First"]),
  response: expect.stringMatching(/\w/),
};

test("a program with types by openapi-typescript sends, reads a page and verifies a webhook", { timeout: 600_000 }, async () => {
  const bin = join(tools, "openapi-typescript/bin/cli.js");
  const worked = await tryClient(OPENAPI_TYPESCRIPT, (to) =>
    run(process.execPath, [bin, join(root, "openapi.json"), "-o", join(to, "schema.ts")]),
  );
  expect(worked).toEqual(WORKED);
});

test("a program with a client by @hey-api/openapi-ts sends, reads a page and verifies a webhook", { timeout: 600_000 }, async () => {
  const bin = join(tools, "@hey-api/openapi-ts/bin/run.js");
  const worked = await tryClient(HEY_API, async (to) => {
    const config = {
      input: join(root, "openapi.json"),
      output: { path: join(to, "client"), module: { extension: ".ts" } },
      plugins: ["@hey-api/client-fetch", "@hey-api/typescript", "@hey-api/sdk"],
    };
    writeFileSync(join(to, "config.mjs"), `export default ${JSON.stringify(config)};`);
    await run(process.execPath, [bin, "-f", join(to, "config.mjs")], { cwd: to });
    expect(readFileSync(join(to, "client/types.gen.ts"), "utf8")).toContain("EmailBouncedEvent");
  });
  expect(worked).toEqual(WORKED);
});
