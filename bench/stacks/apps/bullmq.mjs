// Typical application of today: fastify takes a send, BullMQ keeps it in Redis, a worker in the same process hands it to nodemailer's
// pool. Prints its port when it is ready.
//
//   node bullmq.mjs REDIS_PORT SMTP_PORT CONNECTIONS [PORT]
import { Queue, Worker } from "bullmq";
import fastify from "fastify";
import { createMailer } from "./mailer.mjs";

const [redisPort, smtpPort, connections, port = "0"] = process.argv.slice(2);
const connection = { host: "127.0.0.1", port: Number(redisPort), maxRetriesPerRequest: null };
const mailer = createMailer(Number(smtpPort), Number(connections));

const queue = new Queue("mail", {
  connection,
  defaultJobOptions: { attempts: 5, backoff: { type: "exponential", delay: 200 }, removeOnComplete: true, removeOnFail: true },
});
// As many jobs at once as there are connections; locks are checked often, so that a killed worker's jobs run again soon.
const worker = new Worker("mail", ({ data }) => mailer.sendMail(data), {
  connection,
  concurrency: Number(connections),
  lockDuration: 2000,
  stalledInterval: 1000,
  maxStalledCount: 10,
});
for (const one of [queue, worker]) one.on("error", (error) => console.error(error.message));

const app = fastify();
app.post("/send", async ({ body }) => ({ id: (await queue.add("send", body)).id }));
await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]);
await app.listen({ port: Number(port), host: "127.0.0.1" });
console.log(app.server.address().port);
