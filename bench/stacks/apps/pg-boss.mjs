// fastify takes a send, pg-boss keeps it in Postgres, workers in the same process hand it to nodemailer's pool. Prints its port when it is
// ready.
//
//   node pg-boss.mjs DATABASE_URL SMTP_PORT CONNECTIONS [PORT]
import fastify from "fastify";
import { PgBoss } from "pg-boss";
import { createMailer } from "./mailer.mjs";

const [connectionString, smtpPort, connections, port = "0"] = process.argv.slice(2);
const mailer = createMailer(Number(smtpPort), Number(connections));
// Jobs of a killed worker are looked for every second; they run again when no heartbeat has come for ten, which is the least it takes.
const intervals = { superviseIntervalSeconds: 1, monitorIntervalSeconds: 1, queueCacheIntervalSeconds: 1 };
const boss = new PgBoss({ connectionString, max: 20, useListenNotify: true, ...intervals });
boss.on("error", (error) => console.error(error.message));
await boss.start();
await boss.createQueue("mail", { notify: true, retryLimit: 25, retryDelay: 1, heartbeatSeconds: 10 });
// Workers that are woken by a job take several at once, and go on at once while there are more.
const work = {
  localConcurrency: Number(connections),
  batchSize: 5,
  burstWhenBatchFull: true,
  perJobResults: true,
  pollingIntervalSeconds: 0.5,
};
await boss.work("mail", work, (jobs) => Promise.all(jobs.map(handOver)));

async function handOver({ id, data }) {
  try {
    await mailer.sendMail(data);
    return { id, status: "completed" };
  } catch (error) {
    return { id, status: "failed", output: { message: error.message } };
  }
}

const app = fastify();
app.post("/send", async ({ body }) => ({ id: await boss.send("mail", body) }));
await app.listen({ port: Number(port), host: "127.0.0.1" });
console.log(app.server.address().port);
