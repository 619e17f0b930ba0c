// A service of Restate with a handler of some steps. Prints its port when it is ready.
//
//   node restate-steps.mjs LEDGER_PORT PORT
import { once } from "node:events";
import { createServer } from "node:http2";
import { createEndpointHandler, service } from "@restatedev/restate-sdk";
import { openLedger, RESULT, STEPS } from "./ledger.mjs";

const [ledgerPort, port] = process.argv.slice(2);
const note = await openLedger(ledgerPort);

const bench = service({
  name: "bench",
  handlers: {
    start: async (ctx, { n }) => {
      for (let step = 0; step < STEPS; step += 1) {
        await ctx.run(`step-${step}`, () => {
          note(n, step);
          return RESULT;
        });
      }
    },
  },
});

const server = createServer(createEndpointHandler({ services: [bench], logger: () => {} }));
await once(server.listen(Number(port), "127.0.0.1"), "listening");
console.log(server.address().port);
