import type { PostgresServer } from "../../packages/server/test/postgres-server.ts";
import { type Contender, call, mailsvc } from "../contenders.ts";
import { type Bench, type Figure, median } from "../figure.ts";
import { PERSONS_PER_REQUEST, personAt } from "../load/persons.ts";
import { onPostgres } from "./drain.ts";

const ROUNDS = 5;
// Events of a contact.
const EVENTS = 10;
const PER_REQUEST = 1000;
const MOST = 1_000_000;

const QUESTIONS = {
  often: { field: "did.purchase", operator: "gte", value: 2, within: "30d" },
  never: { field: "did.purchase", operator: "exists", value: false, within: "7d" },
  where: { field: "did.purchase", operator: "gte", value: 1, within: "30d", where: { field: "value", operator: "gt", value: 90 } },
} as const;

/** A rule that reads as many contacts, and no events. */
const PLAIN = { field: "customFields.seats", operator: "equals", value: 3 };

/** Rules about what people did. */
export const behaviour: Bench = {
  name: "behaviour",
  onlyByName: true,
  meaning:
    `Previews of rules about what contacts did, with ${EVENTS} events of each over 60 days, against a rule about a custom field of the same contacts: twice within 30 days, not within 7 days, and with a fact of the event. ` +
    "--rows N for fewer than a million contacts. track: events a second until the segments know them.",
  run: async ({ rows }) => {
    const count = Math.min(rows, MOST);
    const sqlite = await measure(null, count);
    const pg = await onPostgres((database) => measure(database, count));
    return [
      ...sqlite.map((figure) => ({ ...figure, name: `behaviour.${figure.name}` })),
      ...pg.map((figure) => ({ ...figure, name: `behaviour.pg.${figure.name}` })),
    ];
  },
};

async function measure(database: PostgresServer | null, count: number): Promise<Figure[]> {
  const server = await mailsvc(database === null ? {} : { flags: ["--database-url", database.url] });
  try {
    for (let at = 0; at < count; at += PERSONS_PER_REQUEST) {
      const rows = Array.from({ length: Math.min(PERSONS_PER_REQUEST, count - at) }, (_, i) => personAt(at + i));
      await call(server, "POST", "/api/v1/contacts/import", { rows });
    }
    const perSecond = await track(server, count);
    const plain = await time(server, PLAIN);
    const figures: Figure[] = [];
    for (const [name, rules] of Object.entries(QUESTIONS)) {
      const ms = await time(server, rules);
      figures.push({ name, value: ms, unit: "ms", against: "a custom field", ratio: ms / plain });
    }
    return [...figures, { name: "track", value: perSecond, unit: "events/s", against: null, ratio: null }];
  } finally {
    await server.stop();
  }
}

/** Tracks events of the contacts, in batches, and returns how many a second. */
async function track(server: Contender, count: number): Promise<number> {
  const day = 86_400_000;
  const from = performance.now();
  const now = Date.now();
  for (let at = 0; at < count * EVENTS; at += PER_REQUEST) {
    const events = Array.from({ length: Math.min(PER_REQUEST, count * EVENTS - at) }, (_, i) => {
      const n = at + i;
      const age = ((n * 7919) % 60_000) * (day / 1000);
      return {
        contact: personAt(n % count).email,
        name: "purchase",
        value: (n * 31) % 100,
        currency: "EUR",
        at: new Date(now - age).toISOString(),
      };
    });
    await call(server, "POST", "/api/v1/track/batch", { events });
  }
  // Lists of segments wait until the reader is there.
  await call(server, "POST", "/api/v1/segments/preview", { rules: PLAIN, limit: 0 });
  return (count * EVENTS * 1000) / (performance.now() - from);
}

async function time(server: Contender, rules: object): Promise<number> {
  const all: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const from = performance.now();
    await call(server, "POST", "/api/v1/segments/preview", { rules, limit: 0 });
    // The first round warms up.
    if (round > 0) all.push(performance.now() - from);
  }
  return median(all);
}
