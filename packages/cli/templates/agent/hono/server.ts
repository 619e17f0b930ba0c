import { serve } from "@hono/node-server";
import { honoHandler } from "@mailsvc/agent-kit/hono";
import { Hono } from "hono";
import { createHelloAgent } from "./agent.ts";
import { openStore } from "./store.ts";

// AGENT_WEBHOOK_SECRET, AGENT_MASTER_KEY and MAILSVC_URL are read by the kit.
const agent = createHelloAgent({ store: openStore() });
const app = new Hono();
// Before middleware that parses bodies: the webhook verifies the raw bytes.
app.post("/webhook", honoHandler(agent));

const server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port: Number(process.env["PORT"] ?? 4000) }, ({ port }) => {
  console.log(`The webhook is at http://127.0.0.1:${port}/webhook`);
  // Continues what an earlier process left unfinished.
  agent.start();
});
process.once("SIGTERM", async () => {
  server.close();
  await agent.stop();
  // Connections that the service keeps open would hold the process.
  process.exit();
});
