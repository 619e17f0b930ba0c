import type { ServeMcp } from "./http/public/mcp-route.ts";
import type { Log } from "./lib/log.ts";
import type { Macs } from "./lib/macs.ts";
import type { Random } from "./lib/random.ts";
import type { McpConfig } from "./mcp/config.ts";
import type { Me } from "./mcp/mcp.ts";

interface McpHttpParts {
  readonly version: string;
  readonly dev: boolean;
  readonly limits: McpConfig;
  readonly macs: Macs;
  readonly random: Random;
  readonly log: Log;
}

/** Loads the service behind /mcp, which is large, when it is first asked for. */
export function mcpLoader({ version, dev, limits, macs, random, log }: McpHttpParts): () => Promise<ServeMcp> {
  return async () => {
    const { createMcpService } = await import("./mcp/mcp.ts");
    const service = createMcpService({
      settings: { version, dev, writesFlag: "mailsvc serve --mcp write", ...limits },
      sealingKeys: () => macs.listSecrets("mcp"),
      makeSessionId: () => Buffer.from(random.bytes(24)).toString("base64url"),
      report: (error) => log.error("mcp tool failed", { error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    });
    return (request, body, call, given) => {
      // The answer to me.get, which the endpoint's own handler has made.
      const me = given as Me;
      return service.serve(request, body, { keyId: me.key.id, send: call, me: async () => me });
    };
  };
}
