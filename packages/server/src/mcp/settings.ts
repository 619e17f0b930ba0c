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
