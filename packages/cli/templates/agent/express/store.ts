import { DatabaseSync } from "node:sqlite";
import type { Store } from "@mailsvc/agent-kit";
import { sqliteStore } from "@mailsvc/agent-kit/stores/sqlite";

/** The store of this machine: keys, events and results of steps are in the file that AGENT_DATA names. */
export function openStore(): Store {
  return sqliteStore(new DatabaseSync(process.env["AGENT_DATA"] ?? "agent.db"));
}
