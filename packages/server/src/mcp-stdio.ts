import { ConfigError } from "./config.ts";
import type { StdioParts } from "./mcp/stdio.ts";
import { version } from "./version.ts";

/** Options of the command line for serving MCP. */
interface McpStdioOptions extends Omit<StdioParts, "settings"> {
  /** True if the server behind is in dev mode, where everything is allowed. */
  readonly dev: boolean;
  readonly allowWrites: boolean;
  readonly maxRecipients: string | undefined;
  /** Domains, with commas. */
  readonly allowTo: string | undefined;
}

/** Serves the Model Context Protocol over stdin and stdout until stdin ends. Throws ConfigError. */
export async function serveMcpOverStdio({ dev, allowWrites, maxRecipients, allowTo, ...parts }: McpStdioOptions): Promise<void> {
  const [{ serveMcpOverStdio: run }, { readMcpLimits }] = await Promise.all([import("./mcp/stdio.ts"), import("./mcp/config.ts")]);
  const limits = readMcpLimits({ maxRecipients, allowTo }, (name, message) => {
    throw new ConfigError(`--${name} ${message}`);
  });
  await run({ ...parts, settings: { version, dev, writes: allowWrites, writesFlag: "mailsvc mcp --allow-writes", ...limits } });
}
