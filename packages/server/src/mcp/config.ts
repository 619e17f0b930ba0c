import { toDomain } from "@mailsvc/sdk/contract";

/** Rights of MCP clients besides reading. */
export interface McpConfig {
  /** Write, each time after a person has confirmed it. */
  readonly writes: boolean;
  /** People whom one call may reach; null for any number. */
  readonly maxRecipients: number | null;
  /** Domains to which single mail may go; empty for all. */
  readonly allowTo: readonly string[];
}

interface McpFlags {
  readonly mode: string | undefined;
  readonly maxRecipients: string | undefined;
  readonly allowTo: string | undefined;
}

/** Reads what MCP clients may do at /mcp; null for nothing. Calls `fail` with what is wrong. */
export function readMcp({ mode = "read", ...limits }: McpFlags, fail: (message: string) => never): McpConfig | null {
  if (mode !== "off" && mode !== "read" && mode !== "write") fail(`--mcp is off, read or write, not "${mode}".`);
  const read = readMcpLimits(limits, (name, message) => fail(`--mcp-${name} ${message}`));
  return mode === "off" ? null : { writes: mode === "write", ...read };
}

/** Reads the limits for writes. Calls `fail` with the name of a flag and what is wrong with it. */
export function readMcpLimits(
  { maxRecipients, allowTo }: Omit<McpFlags, "mode">,
  fail: (name: string, message: string) => never,
): Pick<McpConfig, "maxRecipients" | "allowTo"> {
  if (maxRecipients !== undefined && !/^[1-9]\d{0,8}$/.test(maxRecipients))
    fail("max-recipients", `takes a whole number from 1, not "${maxRecipients}".`);
  const domains = (allowTo?.split(",") ?? []).map((part) => {
    try {
      return toDomain(part.trim());
    } catch (error) {
      return fail("allow-to", `takes domains such as acme.com: ${(error as Error).message}`);
    }
  });
  return { maxRecipients: maxRecipients === undefined ? null : Number(maxRecipients), allowTo: domains };
}

/** Limits on MCP clients. */
export interface McpSettings {
  /** The version of mailsvc. */
  readonly version: string;
  /** In dev mode everything is on, and nobody is asked while all mail is captured. */
  readonly dev: boolean;
  /** True if tools may write at all; a person confirms each write. Dev mode always may. */
  readonly writes: boolean;
  /** Flag that allows writes, for messages. */
  readonly writesFlag: string;
  /** People whom one call may reach; null for any number. */
  readonly maxRecipients: number | null;
  /** Domains to which single mail may go; empty for all. */
  readonly allowTo: readonly string[];
}
