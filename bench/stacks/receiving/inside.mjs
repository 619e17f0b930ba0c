// The comparison of receivers, run by `npm run bench:stacks -- --receiving` in a network of its own, where this machine is the name server.
//
//   node inside.mjs ROUNDS CHOSEN
import { compareReceiving } from "./compare.ts";

const [rounds, chosen] = process.argv.slice(2);
await compareReceiving(JSON.parse(chosen), Number(rounds));
