import { type Contender, call } from "../contenders.ts";
import { cpuOf } from "../cpu.ts";
import { type Bench, type Figure, median } from "../figure.ts";
import { deleteOtherSegments, EVENTS_EACH, insertDeeds, insertOtherSegments } from "../load/deeds.ts";
import { openPostgres, openSqlite, type Store } from "../stores.ts";

const ROUNDS = 5;
const MOST = 1_000_000;
const MOVES = 20;
const BATCHES = 20;
const PER_BATCH = 1000;
const OTHER_SEGMENTS = 400;

const QUESTIONS = {
  often: { field: "did.purchase", operator: "gte", value: 2, within: "30d" },
  never: { field: "opened", operator: "exists", value: false, within: "30d" },
  where: { field: "did.purchase", operator: "gte", value: 1, within: "30d", where: { field: "value", operator: "gt", value: 90 } },
  seldom: { field: "did.refund", operator: "exists", within: "30d" },
} as const;

const NEWCOMERS = { field: "did.signup", operator: "gte", value: 1 } as const;

/** Rules about what people did, on SQLite. */
export const behaviour: Bench = {
  name: "behaviour",
  onlyByName: true,
  meaning:
    `Rules about what people did, with a million contacts and ${EVENTS_EACH} events of each over 60 days. Previews: two purchases within 30 days, no open within 30 days, a purchase with a fact of the event, and an event that is rare. ` +
    "build: until a new segment of who bought twice within 30 days is READY. move: from the call that tracks an event until its contact is a member. " +
    `event: processor time of the server for an event until the segments know it; with ${OTHER_SEGMENTS} segments more whose rules do not name it, against without them, by turns. --rows N for fewer contacts.`,
  run: async ({ rows }) => measure("behaviour", await openSqlite(), Math.min(rows, MOST)),
};

/** The same on Postgres. */
export const behaviourOnPostgres: Bench = {
  name: "behaviour-postgres",
  meaning: "The same on Postgres with fsync on.",
  onlyByName: true,
  run: async ({ rows }) => measure("behaviour-postgres", await openPostgres(), Math.min(rows, MOST)),
};

async function measure(prefix: string, store: Store, count: number): Promise<Figure[]> {
  try {
    const first = await store.start();
    const { workspaceId, apiKey } = first;
    await first.stop();
    const now = Date.now();
    await store.fill(insertDeeds(store.dialect, workspaceId, count, now));
    const ask = async <T>(question: (server: Contender) => Promise<T>): Promise<T> => {
      const server = { ...(await store.start()), apiKey };
      try {
        return await question(server);
      } finally {
        await server.stop();
      }
    };
    // Events come first, to servers that have just been started: a segment that was built is compared again after a minute.
    const alone: number[] = [];
    const beside: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      alone.push(await ask((server) => trackMany(server, count)));
      await store.fill(insertOtherSegments(store.dialect, workspaceId, OTHER_SEGMENTS, now));
      beside.push(await ask((server) => trackMany(server, count)));
      await store.fill(deleteOtherSegments());
    }
    const figures = await ask(answer);
    const all: Figure[] = [
      ...figures,
      { name: "event", value: median(alone), unit: "us/event", against: null, ratio: null, rounds: alone },
      {
        name: "event.segments",
        value: median(beside),
        unit: "us/event",
        against: "without the other segments",
        ratio: median(beside) / median(alone),
        rounds: beside,
        goal: { op: "<=", than: 1.1 },
      },
    ];
    return all.map((figure) => ({ ...figure, name: `${prefix}.${figure.name}` }));
  } finally {
    await store.dispose();
  }
}

/** Measures previews, the build of a segment, and moves. */
async function answer(server: Contender): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [name, rules] of Object.entries(QUESTIONS)) {
    const rounds: number[] = [];
    for (let round = 0; round <= ROUNDS; round += 1) {
      const from = performance.now();
      await call(server, "POST", "/api/v1/segments/preview", { rules });
      // The first round warms up.
      if (round > 0) rounds.push(performance.now() - from);
    }
    figures.push({
      name: `preview.${name}`,
      value: median(rounds),
      unit: "ms",
      against: null,
      ratio: null,
      goal: { op: "<", than: 300 },
      rounds,
    });
  }
  const newcomers = await build(server, NEWCOMERS);
  const often = await build(server, QUESTIONS.often);
  const moves = await moveSome(server, newcomers.id);
  return [
    ...figures,
    { name: "build", value: often.seconds, unit: "s", against: null, ratio: null, goal: { op: "<", than: 10 } },
    { name: "build.members", value: often.members, unit: "contacts", against: null, ratio: null },
    { name: "move", value: median(moves), unit: "ms", against: null, ratio: null, goal: { op: "<", than: 100 }, rounds: moves },
  ];
}

interface Built {
  readonly id: string;
  readonly seconds: number;
  readonly members: number;
}

async function build(server: Contender, rules: object): Promise<Built> {
  const from = performance.now();
  const { id } = (await call(server, "POST", "/api/v1/segments", { name: "Built", rules })) as { id: string };
  for (;;) {
    const { state, memberCount } = await readSegment(server, id);
    if (state === "READY") return { id, seconds: (performance.now() - from) / 1000, members: memberCount };
    await new Promise((next) => setTimeout(next, 20));
  }
}

async function readSegment(server: Contender, id: string): Promise<{ state: string; memberCount: number }> {
  return (await call(server, "GET", `/api/v1/segments/${id}`)) as { state: string; memberCount: number };
}

/** Tracks events of contacts one after the other, each of which makes its contact a member, and returns how long each took, ms. */
async function moveSome(server: Contender, id: string): Promise<number[]> {
  const all: number[] = [];
  for (let i = 1; i <= MOVES; i += 1) {
    const from = performance.now();
    await call(server, "POST", "/api/v1/track", { contact: `p${i * 37}@people.example`, name: "signup" });
    while ((await readSegment(server, id)).memberCount < i);
    all.push(performance.now() - from);
  }
  return all;
}

/** Tracks events of many contacts in batches, and returns the processor time of each, us. */
async function trackMany(server: Contender, count: number): Promise<number> {
  const track = async (batches: number): Promise<void> => {
    for (let i = 0; i < batches; i += 1) {
      const events = Array.from({ length: PER_BATCH }, (_, n) => ({
        contact: `p${1 + (((i * PER_BATCH + n) * 7919) % count)}@people.example`,
        name: "purchase",
        value: n % 100,
        currency: "EUR",
      }));
      await call(server, "POST", "/api/v1/track/batch", { events });
    }
    // Requests for segments wait until their reader has caught up.
    await call(server, "POST", "/api/v1/segments/preview", { rules: QUESTIONS.seldom });
  };
  await track(BATCHES);
  const before = cpuOf([server.pid]);
  await track(BATCHES);
  return (cpuOf([server.pid]) - before) / (BATCHES * PER_BATCH);
}
