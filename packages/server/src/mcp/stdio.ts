import type { Readable, Writable } from "node:stream";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Me, SendRequest } from "./api.ts";
import type { McpSettings } from "./config.ts";
import { composeMcp } from "./mcp.ts";
import { makeProtocolServer } from "./protocol-server.ts";
import { ToolError } from "./tool-error.ts";

export interface StdioParts {
  readonly settings: McpSettings;
  /** 32 random bytes that seal questions on their way through the client. */
  readonly sealingKey: Uint8Array;
  readonly send: SendRequest;
  readonly me: () => Promise<Me>;
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly report: (error: unknown) => void;
  /** Ends the service. */
  readonly signal: AbortSignal;
}

/** Serves one client over stdin and stdout, in both eras of the protocol, until stdin ends or the signal fires. */
export async function serveMcpOverStdio({ settings, sealingKey, send, me, stdin, stdout, report, signal }: StdioParts): Promise<void> {
  const parts = composeMcp({ settings, sealingKeys: () => [sealingKey], report });
  const ended = new Promise<void>((resolve) => {
    for (const event of ["end", "close"]) stdin.once(event, () => resolve());
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  const transport = new StdioServerTransport(stdin, stdout);
  const caller = { send: explained(send), me: explained(me) };
  const handle = serveStdio(() => makeProtocolServer(parts, caller), { transport, onerror: () => undefined });
  await ended;
  await handle.close();
}

/** The same function; what it throws is told to the model, such as that the server is unreachable. */
function explained<A extends unknown[], T>(run: (...args: A) => Promise<T>): (...args: A) => Promise<T> {
  return async (...args) => {
    try {
      return await run(...args);
    } catch (error) {
      throw new ToolError(error instanceof Error ? error.message : String(error));
    }
  };
}
