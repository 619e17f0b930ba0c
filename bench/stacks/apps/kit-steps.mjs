// An agent whose events each start a run of some steps. Prints its port when it is ready.
//
//   node kit-steps.mjs sqlite:FILE|postgres:URL SERVICE_URL SECRET LEDGER_PORT PORT
import { once } from "node:events";
import { createServer } from "node:http";
import { DatabaseSync } from "node:sqlite";
import { createAgent } from "@mailsvc/agent-kit";
import { nodeHandler } from "@mailsvc/agent-kit/node";
import { postgresStore } from "@mailsvc/agent-kit/stores/postgres";
import { sqliteStore } from "@mailsvc/agent-kit/stores/sqlite";
import pg from "pg";
import { openLedger, RESULT, STEPS } from "./ledger.mjs";

const [storage, baseUrl, secret, ledgerPort, port] = process.argv.slice(2);
const note = await openLedger(ledgerPort);
// Events of a killed process are taken over two seconds later.
const agent = createAgent({ secret, baseUrl, store: openStore(), masterKey: Buffer.alloc(32, 1).toString("base64"), leaseMs: 2000 });
agent.onError((error) => console.error(error.message));
agent.on("message.posted", (ctx) =>
  ctx.run({ title: "Bench" }, async (run) => {
    for (let step = 0; step < STEPS; step += 1) {
      await run.step(`step-${step}`, async () => {
        note(ctx.event.text, step);
        return RESULT;
      });
    }
  }),
);

function openStore() {
  if (storage.startsWith("sqlite:")) return sqliteStore(new DatabaseSync(storage.slice("sqlite:".length)));
  const pool = new pg.Pool({ connectionString: storage, max: 20 });
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return postgresStore(pool);
}

const server = createServer(nodeHandler(agent));
agent.start();
await once(server.listen(Number(port), "127.0.0.1"), "listening");
console.log(server.address().port);
