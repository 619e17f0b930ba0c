import { PassThrough } from "node:stream";
import { Client, type JSONRPCMessage, type Transport } from "@modelcontextprotocol/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { createWorld, type TestWorld } from "../../server/src/testing.ts";
import { cli, type Result } from "./harness.ts";

/** `mailsvc mcp`, running with pipes. */
interface Running {
  readonly lines: string[];
  readonly result: Promise<Result>;
  write(line: string): void;
  /** The line of this number, once it was printed. */
  line(index: number): Promise<string>;
  end(): void;
  onLine: (line: string) => void;
}

function start(world: TestWorld, flags: readonly string[] = []): Running {
  const input = new PassThrough();
  const lines: string[] = [];
  const waiting = new Map<number, (line: string) => void>();
  let rest = "";
  const running: Running = {
    lines,
    write: (line) => void input.write(`${line}\n`),
    line: async (index) => lines[index] ?? new Promise((resolve) => waiting.set(index, resolve)),
    end: () => void input.end(),
    onLine: () => undefined,
    result: cli(["mcp", "--url", world.url, "--api-key", world.apiKey, ...flags], {
      input: input as never,
      fetch: world.fetch,
      onOutput: (text) => {
        const parts = (rest + text).split("\n");
        rest = parts.pop() ?? "";
        for (const line of parts) {
          waiting.get(lines.push(line) - 1)?.(line);
          running.onLine(line);
        }
      },
    }),
  };
  onTestFinished(running.end);
  return running;
}

/** The official client, connected by these pipes. */
async function connect(running: Running, era: "auto" | "legacy", confirm?: boolean) {
  const questions: string[] = [];
  const client = new Client(
    { name: "test", version: "1" },
    { versionNegotiation: { mode: era }, capabilities: confirm === undefined ? {} : { elicitation: { form: {} } } },
  );
  if (confirm !== undefined)
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      questions.push(params.message);
      return { action: "accept", content: { confirm } };
    });
  const transport: Transport = {
    start: async () => {
      running.onLine = (line) => transport.onmessage?.(JSON.parse(line) as JSONRPCMessage);
    },
    send: async (message) => running.write(JSON.stringify(message)),
    close: async () => {
      running.end();
      transport.onclose?.();
    },
  };
  await client.connect(transport);
  return { client, questions };
}

const hello = { from: "a@acme.test", to: "ada@example.com", subject: "Hello", text: "It works." };

describe.each(["auto", "legacy"] as const)("in the era %s", (era) => {
  test("a client of a development server sends, waits for the mail and ends", async () => {
    await using world = await createWorld();
    const running = start(world);
    const { client } = await connect(running, era);
    const sent = await client.callTool({ name: "send", arguments: hello });
    expect(sent.structuredContent).toMatchObject({ result: { status: "queued" }, replayed: false });
    const mail = await client.callTool({ name: "inbox_wait", arguments: { to: "ada@example.com" } });
    expect(mail.structuredContent).toMatchObject({ subject: "Hello", body: { untrusted: true, text: "It works.\n" } });
    const { contents } = await client.readResource({ uri: "mailsvc://docs/emails" });
    expect(contents[0]).toMatchObject({ mimeType: "text/markdown" });
    await client.close();
    expect(await running.result).toMatchObject({ code: 0, stderr: "" });
  });

  test("a server in production is only read, and with --allow-writes a person confirms", async () => {
    await using world = await createWorld({ dev: false, flags: { "trust-sender": "acme.test" } });
    const reading = await connect(start(world), era);
    expect((await reading.client.listTools()).tools.map(({ name }) => name)).not.toContain("send");
    const writing = await connect(start(world, ["--allow-writes", "--allow-to", "example.com"]), era, true);
    expect((await writing.client.callTool({ name: "send", arguments: hello })).structuredContent).toMatchObject({ replayed: false });
    expect(writing.questions).toEqual([
      'Send "Hello", from a@acme.test, to 1 person: ada@example.com? (Send an email to one recipient, or to up to 50.)',
    ]);
    const refused = await writing.client.callTool({ name: "send", arguments: { ...hello, to: "eve@evil.test" } });
    expect(refused).toMatchObject({ isError: true });
  });
});

test("this is what goes over the pipes", async () => {
  await using world = await createWorld();
  const running = start(world);
  const say = async (message: object, index: number): Promise<unknown> => {
    running.write(JSON.stringify({ jsonrpc: "2.0", ...message }));
    return JSON.parse(await running.line(index));
  };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } };
  expect(await say({ id: 1, method: "initialize", params }, 0)).toMatchObject({
    jsonrpc: "2.0",
    id: 1,
    result: { protocolVersion: "2025-11-25", serverInfo: { name: "mailsvc" }, capabilities: { tools: {}, resources: {}, prompts: {} } },
  });
  running.write('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  expect(await say({ id: "a", method: "tools/call", params: { name: "errors_explain", arguments: { code: "forbidden" } } }, 1)).toEqual({
    jsonrpc: "2.0",
    id: "a",
    result: {
      content: [{ type: "text", text: expect.stringMatching(/^forbidden \(403\): The key is valid, but lacks the permission/) }],
      structuredContent: expect.objectContaining({ code: "forbidden", status: 403 }),
    },
  });
  expect(await say({ id: 3, method: "tools/call", params: { name: "nothing" } }, 2)).toMatchObject({ id: 3, error: { code: -32_602 } });
  expect(await say({ id: 4, method: "nothing/such" }, 3)).toMatchObject({ id: 4, error: { code: -32_601 } });
  running.write("this is no JSON");
  running.write('[{"jsonrpc":"2.0","id":5,"method":"ping"}]');
  expect(await say({ id: 6, method: "ping" }, 4)).toEqual({ jsonrpc: "2.0", id: 6, result: {} });
  running.end();
  expect((await running.result).code).toBe(0);
});

test("a server that is not there, and a limit that is none, are errors of the command", async () => {
  await using world = await createWorld();
  const gone = await cli(["mcp", "--url", "http://127.0.0.1:9", "--api-key", world.apiKey]);
  expect([gone.code, gone.stdout, gone.stderr]).toEqual([10, "", expect.stringContaining("127.0.0.1:9")]);
  const wrong = await cli(["mcp", "--url", world.url, "--api-key", world.apiKey, "--max-recipients", "many"], { fetch: world.fetch });
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--max-recipients takes a whole number from 1, not "many".')]);
});
