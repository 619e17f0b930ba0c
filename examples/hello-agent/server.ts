import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { nodeHandler } from "@mailsvc/agent-kit/node";
import { createHelloAgent } from "./agent.ts";
import { openStore } from "./store.ts";

// AGENT_WEBHOOK_SECRET, AGENT_MASTER_KEY and MAILSVC_URL are read by the kit.
const agent = createHelloAgent({ store: openStore() });
const server = createServer(nodeHandler(agent));
server.listen(Number(process.env["PORT"] ?? 4000), "127.0.0.1", () => {
  console.log(`The webhook is at http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`);
  // Continues what an earlier process left unfinished.
  agent.start();
});
process.once("SIGTERM", async () => {
  server.close();
  await agent.stop();
  // Connections that the service keeps open would hold the process.
  process.exit();
});
