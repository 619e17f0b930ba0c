import { createRequestStateCodec, type RequestStateCodec } from "@modelcontextprotocol/server";
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
