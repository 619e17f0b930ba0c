// fastify takes a request for a workflow of some steps, DBOS keeps it in Postgres. Prints its port when it is ready.
//
//   node dbos-steps.mjs DATABASE_URL LEDGER_PORT PORT
import { DBOS } from "@dbos-inc/dbos-sdk";
import fastify from "fastify";
import { openLedger, RESULT, STEPS } from "./ledger.mjs";

const [systemDatabaseUrl, ledgerPort, port] = process.argv.slice(2);
const note = await openLedger(ledgerPort);

const workflow = DBOS.registerWorkflow(
  async (n) => {
    for (let step = 0; step < STEPS; step += 1) {
      await DBOS.runStep(
        async () => {
          note(n, step);
          return RESULT;
        },
        { name: `step-${step}` },
      );
    }
  },
  { name: "bench" },
);

DBOS.setConfig({ name: "bench", systemDatabaseUrl, systemDatabasePoolSize: 20, logLevel: "error" });
// Goes on with the workflows that a killed process has left, too.
await DBOS.launch();
const app = fastify();
app.post("/start", async ({ body }) => ({ id: (await DBOS.startWorkflow(workflow)(body.n)).workflowID }));
await app.listen({ port: Number(port), host: "127.0.0.1" });
console.log(app.server.address().port);
