import { createServer } from "node:http";
import { DatabaseSync } from "node:sqlite";
import { nodeHandler } from "@mailsvc/agent-kit/node";
import { sqliteStore } from "@mailsvc/agent-kit/stores/sqlite";
import { createPublisher } from "./agent.ts";

// AGENT_WEBHOOK_SECRET, AGENT_MASTER_KEY and MAILSVC_URL are read by the kit.
const { AGENT_DATA = "agent.db", PORT = "4000", AGENT_LEASE_MS = "30000" } = process.env;
const agent = createPublisher({ store: sqliteStore(new DatabaseSync(AGENT_DATA)), leaseMs: Number(AGENT_LEASE_MS) });
agent.onError((error, { key, attempt }) => console.error(`${key}, attempt ${attempt}:`, error));

const server = createServer(nodeHandler(agent)).listen(Number(PORT), "127.0.0.1", () => {
  console.log(`The webhook is at http://127.0.0.1:${PORT}/`);
  // Continues what an earlier process left unfinished.
  agent.start();
});
process.once("SIGTERM", async () => {
  server.close();
  await agent.stop();
  // Connections that the service keeps open would hold the process.
  process.exit();
});
