import { createRequestStateCodec, type RequestStateCodec } from "@modelcontextprotocol/server";
import { apiTools } from "./api-tools.ts";
import type { McpSettings } from "./config.ts";
import type { Asked } from "./confirmation.ts";
import { devTools } from "./dev-tools.ts";
import { readDocFiles } from "./doc-files.ts";
import { DocsLibrary } from "./docs-library.ts";
import { McpHttpService } from "./http-service.ts";
import { knowledgeTools } from "./knowledge-tools.ts";
import { mailTools } from "./mail-tools.ts";
import { makeOperationTool } from "./operation-tool.ts";
import { listOperations, type Operation } from "./operations.ts";
import type { McpParts } from "./protocol-server.ts";
import { listArguments, listResult } from "./schemas.ts";
import type { Tool } from "./tool.ts";

export type { ApiAnswer, ApiRequest, Me, SendRequest } from "./api.ts";
export type { McpSettings } from "./config.ts";
export type { HttpCaller, McpHttpService } from "./http-service.ts";
export { ToolError } from "./tool-error.ts";

// A person may think about a question for this long.
const QUESTION_SECONDS = 900;

interface SharedParts {
  readonly settings: McpSettings;
  /** Keys of 32 bytes that seal questions on their way through the client; see `ringCodec`. */
  readonly sealingKeys: () => readonly Uint8Array[];
  readonly report: (error: unknown) => void;
}

/** Composes the parts that all connections share: the tools, the documentation and the seal. */
export function composeMcp({ settings, sealingKeys, report }: SharedParts): McpParts {
  return {
    settings,
    tools: listTools(settings),
    docs: new DocsLibrary(readDocFiles),
    codec: ringCodec(sealingKeys),
    report,
  };
}

/** Seals questions with the first of several keys, which may change, and opens what any of them has sealed. */
function ringCodec(listKeys: () => readonly Uint8Array[]): RequestStateCodec<Asked> {
  const codecs = new WeakMap<Uint8Array, RequestStateCodec<Asked>>();
  const list = (): RequestStateCodec<Asked>[] =>
    listKeys().map((key) => {
      const codec = codecs.get(key) ?? makeCodec(key);
      codecs.set(key, codec);
      return codec;
    });
  return {
    mint: (asked, context) => (list()[0] as RequestStateCodec<Asked>).mint(asked, context),
    verify: async (state, context) => {
      const attempts = await Promise.allSettled(list().map((codec) => codec.verify(state, context)));
      const opened = attempts.find((attempt) => attempt.status === "fulfilled");
      if (opened) return opened.value;
      throw (attempts[0] as PromiseRejectedResult).reason;
    },
  };
}

function makeCodec(key: Uint8Array): RequestStateCodec<Asked> {
  return createRequestStateCodec<Asked>({
    key,
    ttlSeconds: QUESTION_SECONDS,
    // A question is answered for the call and the key that asked it.
    bind: ({ mcpReq, http }) => `${mcpReq.method}\0${http?.authInfo?.clientId ?? ""}`,
  });
}

/** The MCP service of a server, for POST /mcp. */
export function createMcpService(parts: SharedParts & { readonly makeSessionId: () => string }): McpHttpService {
  return new McpHttpService({ ...composeMcp(parts), makeSessionId: parts.makeSessionId });
}

type WithTool = Operation & { readonly endpoint: { readonly tool: string } };

/** The tools that a server offers, by name and sorted: the same for every client, so that clients can keep the list. */
export function listTools({ dev, writes }: McpSettings): ReadonlyMap<string, Tool> {
  const operations = listOperations().filter((one): one is WithTool => one.endpoint.tool !== undefined);
  const all = [...operations.map(makeOperationTool), ...knowledgeTools, ...mailTools, ...devTools, ...apiTools];
  const offered = all.filter(({ needs }) => needs === "nothing" || dev || (needs === "writes" && writes));
  const listed = offered.map((tool) => ({
    ...tool,
    inputSchema: listArguments(tool.inputSchema),
    outputSchema: listResult(tool.outputSchema),
  }));
  return new Map(listed.sort((a, b) => (a.name < b.name ? -1 : 1)).map((tool) => [tool.name, tool]));
}
