import { type Contender, call } from "../contenders.ts";
import { cpuOf } from "../cpu.ts";
import { type Bench, type Figure, median } from "../figure.ts";
import { PERSONS_PER_REQUEST, personAt } from "../load/persons.ts";
import { openPostgres, openSqlite, type Store } from "../stores.ts";

const CONTACTS = 10_000;
const PER_REQUEST = 1000;
const REQUESTS = 40;
const WARM_UP = 10;
const CONNECTIONS = 2;
const ROUNDS = 3;

/** Tracked events in batches. */
export const track: Bench = {
  name: "track",
  meaning:
    `Events of ${CONTACTS.toLocaleString("en")} contacts in batches of ${PER_REQUEST.toLocaleString("en")} over ${CONNECTIONS} connections, each batch answered once it is on disk. ` +
    "core: events for each second of processor time of the server, accepting them and recording what contacts did. The first figure: events a second until both are done.",
  run: async () => [...(await measure("track", openSqlite)), ...(await measure("track.pg", openPostgres))],
};

async function measure(name: string, open: () => Promise<Store>): Promise<Figure[]> {
  const store = await open();
  try {
    const server = await store.start();
    for (let at = 0; at < CONTACTS; at += PERSONS_PER_REQUEST) {
      const rows = Array.from({ length: PERSONS_PER_REQUEST }, (_, i) => personAt(at + i));
      await call(server, "POST", "/api/v1/contacts/import", { rows });
    }
    const { id } = (await call(server, "POST", "/api/v1/segments", {
      name: "Nobody",
      rules: { field: "did.nothing", operator: "exists" },
    })) as { id: string };
    await trackMany(server, id, WARM_UP);
    const [rates, cores]: [number[], number[]] = [[], []];
    for (let round = 0; round < ROUNDS; round += 1) {
      const [from, cpu] = [performance.now(), cpuOf([server.pid])];
      await trackMany(server, id, REQUESTS);
      rates.push((REQUESTS * PER_REQUEST * 1000) / (performance.now() - from));
      cores.push((REQUESTS * PER_REQUEST * 1e6) / (cpuOf([server.pid]) - cpu));
    }
    await server.stop();
    const alone = { unit: "events/s", against: null, ratio: null } as const;
    return [
      { name, value: median(rates), ...alone, rounds: rates },
      { name: `${name}.core`, value: median(cores), ...alone, goal: { op: ">=", than: 10_000 }, rounds: cores },
    ];
  } finally {
    await store.dispose();
  }
}

async function trackMany(server: Contender, segmentId: string, requests: number): Promise<void> {
  const one = async (first: number): Promise<void> => {
    for (let i = first; i < requests; i += CONNECTIONS) {
      const events = Array.from({ length: PER_REQUEST }, (_, n) => ({
        contact: personAt(((i * PER_REQUEST + n) * 7919) % CONTACTS).email,
        name: "purchase",
        value: n % 100,
        currency: "EUR",
        properties: { plan: "pro" },
      }));
      await call(server, "POST", "/api/v1/track/batch", { events });
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, i) => one(i)));
  // Requests for a segment wait until its reader has caught up.
  await call(server, "GET", `/api/v1/segments/${segmentId}`);
}
