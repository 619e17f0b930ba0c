// fastify takes a send, graphile-worker keeps it in Postgres, a worker in the same process hands it to nodemailer's pool. Prints its port
// when it is ready.
//
//   node graphile.mjs DATABASE_URL SMTP_PORT CONNECTIONS [PORT]
import fastify from "fastify";
import { Logger, run } from "graphile-worker";
import pg from "pg";
import { createMailer } from "./mailer.mjs";

const [databaseUrl, smtpPort, connections, port = "0"] = process.argv.slice(2);
const mailer = createMailer(Number(smtpPort), Number(connections));
const pgPool = new pg.Pool({ connectionString: databaseUrl, max: 20 });
pgPool.on("error", () => {});
pgPool.on("connect", (client) => client.on("error", () => {}));

const runner = await run({
  pgPool,
  concurrency: Number(connections),
  noHandleSignals: true,
  logger: new Logger(() => () => {}),
  taskList: { mail: (data) => mailer.sendMail(data).then(() => {}) },
});

const app = fastify();
app.post("/send", async ({ body }) => ({ id: (await runner.addJob("mail", body, { maxAttempts: 25 })).id }));
await app.listen({ port: Number(port), host: "127.0.0.1" });
console.log(app.server.address().port);
