import { createHelloAgent } from "./agent.ts";
import { openStore } from "./store.ts";

// Lists the events that were given up. With the key of one it is due again: the agent that runs takes it within 15 seconds.
const agent = createHelloAgent({ store: openStore() });
const [key] = process.argv.slice(2);
if (key !== undefined) console.log((await agent.replay(key)) ? "It is tried again." : "No dead event has this key.");
else for (const dead of await agent.deadEvents()) console.log(new Date(dead.at).toISOString(), dead.key, dead.error);
