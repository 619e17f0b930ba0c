import type { AddressInfo } from "node:net";
import { expressHandler } from "@mailsvc/agent-kit/express";
import express from "express";
import { createHelloAgent } from "./agent.ts";
import { openStore } from "./store.ts";

// AGENT_WEBHOOK_SECRET, AGENT_MASTER_KEY and MAILSVC_URL are read by the kit.
const agent = createHelloAgent({ store: openStore() });
const app = express();
// Before app.use(express.json()): the webhook verifies the raw bytes.
app.post("/webhook", expressHandler(agent));

const server = app.listen(Number(process.env["PORT"] ?? 4000), "127.0.0.1", () => {
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
