import type { Tables } from "./tables.ts";

/**
 * The tables an agent's key can lead to (SPEC 1.5, 5). Contacts, emails, campaigns and everything made of them are not
 * among them: a handler of the agent API that reaches for one does not compile.
 */
export type AgentTables = Pick<
  Tables,
  | "workspaces"
  | "listings"
  | "activations"
  | "agentEvents"
  | "deliveryLanes"
  | "runs"
  | "runLogs"
  | "messages"
  | "approvals"
  | "creditBalances"
  | "creditEntries"
  | "wakeups"
  | "landingPages"
  | "landingPageDays"
  | "landingPageReferrers"
  | "assets"
  | "leadMagnets"
  | "fileContents"
  | "fileParts"
  | "brands"
  // The names of lists, and how many members they have; who these are stands elsewhere.
  | "lists"
  | "tallies"
>;
