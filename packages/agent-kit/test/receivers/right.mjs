import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const secret = process.env.AGENT_WEBHOOK_SECRET;
const seen = new Set();

const server = createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  const body = Buffer.concat(parts);
  const given = Buffer.from(String(request.headers["x-service-signature"] ?? ""), "hex");
  const expected = createHmac("sha256", secret).update(body).digest();
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return response.writeHead(401).end();
  try {
    const { id } = JSON.parse(body.toString());
    seen.add(id);
    response.writeHead(200).end();
  } catch {
    response.writeHead(400).end();
  }
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
