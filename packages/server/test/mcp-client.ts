import { type CallToolResult, Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { onTestFinished } from "vitest";
import type { TestWorld } from "../src/testing.ts";

/** The eras of the protocol: 2026-07-28, and 2025-11-25 with `initialize`. */
export const ERAS = ["auto", "legacy"] as const;
type Era = (typeof ERAS)[number];

/** A person's answer to a question; null for a client that cannot ask. */
export type Answer = { readonly action: "accept"; readonly confirm: boolean } | { readonly action: "decline" } | null;

interface Connected {
  readonly client: Client;
  /** The questions that the person was shown. */
  readonly questions: string[];
  /** Calls a tool; a failure is a result, too. */
  call(name: string, input?: Record<string, unknown>): Promise<CallToolResult>;
  /** Calls a tool that must succeed, and gives its structured content. Throws what went wrong. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects, and fails where it is not there
  data(name: string, input?: Record<string, unknown>): Promise<any>;
  /** Calls a tool that must fail, and gives its explanation. */
  failure(name: string, input?: Record<string, unknown>): Promise<string>;
}

interface ClientOptions {
  readonly era?: Era;
  readonly apiKey?: string;
  readonly answer?: Answer;
}

/** The official client, connected to POST /mcp of a world. It is closed after the test. */
export async function connectMcp(
  world: Pick<TestWorld, "url" | "apiKey" | "fetch">,
  { era = "auto", apiKey = world.apiKey, answer = null }: ClientOptions = {},
): Promise<Connected> {
  const questions: string[] = [];
  const client = new Client(
    { name: "test", version: "1" },
    { versionNegotiation: { mode: era }, capabilities: answer === null ? {} : { elicitation: { form: {} } } },
  );
  if (answer !== null)
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      questions.push(params.message);
      return answer.action === "decline" ? { action: "decline" } : { action: "accept", content: { confirm: answer.confirm } };
    });
  const transport = new StreamableHTTPClientTransport(new URL(`${world.url}/mcp`), {
    fetch: world.fetch,
    requestInit: { headers: { authorization: `Bearer ${apiKey}` } },
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  const call: Connected["call"] = async (name, input = {}) => client.callTool({ name, arguments: input });
  return {
    client,
    questions,
    call,
    data: async (name, input) => {
      const result = await call(name, input);
      if (result.isError === true) throw new Error(toText(result));
      return result.structuredContent;
    },
    failure: async (name, input) => {
      const result = await call(name, input);
      if (result.isError !== true) throw new Error(`${name} succeeded: ${toText(result)}`);
      return toText(result);
    },
  };
}

function toText({ content }: CallToolResult): string {
  return content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}
