// A test's process with msw: handlers as people write them for a mail API, and a port over which the benchmark tells it what to do.
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { HttpResponse, http } from "msw";
import { setupServer } from "msw/node";

const sent = [];
setupServer(
  http.post("https://api.mail.example/emails", async ({ request }) => {
    sent.push(await request.json());
    return HttpResponse.json({ id: `${sent.length}` });
  }),
).listen({ onUnhandledRequest: "bypass" });

createServer(async (req, res) => {
  const url = new URL(req.url, "http://localhost");
  if (url.pathname === "/send") {
    await fetch("https://api.mail.example/emails", { method: "POST", body: await text(req) });
    res.end("null");
  } else res.end(JSON.stringify(sent.some(({ subject }) => subject === url.searchParams.get("subject")) ? "sent" : null));
}).listen(Number(process.argv[2]), "127.0.0.1");
