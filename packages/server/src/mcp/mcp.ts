import { createRequestStateCodec } from "@modelcontextprotocol/server";
import type { Asked } from "./confirmation.ts";
import { readDocFiles } from "./doc-files.ts";
import { DocsLibrary } from "./docs-library.ts";
import { McpHttpService } from "./http-service.ts";
import type { McpParts } from "./protocol-server.ts";
import type { McpSettings } from "./settings.ts";
import { listTools } from "./toolbox.ts";

export type { ApiAnswer, ApiRequest, Me, SendRequest } from "./api.ts";
export type { HttpCaller, McpHttpService } from "./http-service.ts";
export type { McpSettings } from "./settings.ts";
export { ToolError } from "./tool-error.ts";

// A person may think about a question for this long.
const QUESTION_SECONDS = 900;

interface SharedParts {
  readonly settings: McpSettings;
  /** 32 bytes that seal questions on their way through the client; the same in all processes that may get the answer. */
  readonly sealingKey: Uint8Array;
  readonly report: (error: unknown) => void;
}

/** What all connections share: the tools, the documentation and the seal. */
export function composeMcp({ settings, sealingKey, report }: SharedParts): McpParts {
  return {
    settings,
    tools: listTools(settings),
    docs: new DocsLibrary(readDocFiles),
    codec: createRequestStateCodec<Asked>({
      key: sealingKey,
      ttlSeconds: QUESTION_SECONDS,
      // A question is answered for the call and the key that asked it.
      bind: ({ mcpReq, http }) => `${mcpReq.method}\0${http?.authInfo?.clientId ?? ""}`,
    }),
    report,
  };
}

/** The MCP service of a server, for POST /mcp. */
export function createMcpService(parts: SharedParts & { readonly makeSessionId: () => string }): McpHttpService {
  return new McpHttpService({ ...composeMcp(parts), makeSessionId: parts.makeSessionId });
}
