// nodemailer's own pool, sending a given number of mails as fast as it can; prints mails per second.
import { createTransport } from "nodemailer";

const [, , port = "0", count = "0", connections = "5", from = "", html = "", text = ""] = process.argv;
const transport = createTransport({
  pool: true,
  host: "127.0.0.1",
  port: Number(port),
  secure: false,
  ignoreTLS: true,
  maxConnections: Number(connections),
  maxMessages: Number.POSITIVE_INFINITY,
});

await Promise.all(Array.from({ length: 50 }, (_, i) => send(i)));
const from_ = performance.now();
await Promise.all(Array.from({ length: Number(count) }, (_, i) => send(i)));
process.stdout.write(`${(Number(count) * 1000) / (performance.now() - from_)}\n`, () => process.exit(0));

function send(i: number): Promise<unknown> {
  return transport.sendMail({ from, to: `reader${i}@mail.acme.dev`, subject: `Your receipt ${i}`, html, text });
}
