import { createAgent } from "./agent.ts";
import { createWebhook } from "./server.ts";

const secret = process.env["AGENT_WEBHOOK_SECRET"];
if (!secret) throw new Error("Set AGENT_WEBHOOK_SECRET to the secret that `mailsvc listings create` printed.");

const agent = createAgent({ baseUrl: process.env["MAILSVC_URL"] ?? "http://127.0.0.1:2526", secrets: [secret] });
createWebhook(agent, console.error).listen(4000, "127.0.0.1", () => console.log("The webhook is at http://127.0.0.1:4000/"));
