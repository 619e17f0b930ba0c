// The ceiling: a route of h3 that parses its JSON and answers, and does nothing else.
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { H3 } from "h3";
import { toNodeHandler } from "srvx/node";

const app = new H3().post("/api/v1/send", async (event) => {
  const body = (await event.req.json()) as { subject: string };
  return { id: "em_01jc3v2m9k8q4w6x0y5z7a1b2c", status: body.subject ? "queued" : "empty" };
});

const server = createServer(toNodeHandler(app.fetch) as RequestListener);
server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
