import { type Contender, mailsvc, peer } from "../contenders.ts";
import { type Bench, type Figure, median } from "../figure.ts";
import { type Load, load, sends } from "../load/load.ts";

const CONNECTIONS = 100;
const ROUNDS = 5;
/** Sends a second of the open loop. */
const RATE = 2000;

/** Sends that are accepted and durable, per second. */
export const accept: Bench = {
  name: "accept",
  meaning:
    "Sends a second at 100 connections, each answered only when its rows are on disk (WAL, flushed), while mailsvc also delivers in the background. " +
    "naive: h3, zod, drizzle with queries built each time, one transaction a request, equally durable, delivering nothing. empty: an h3 route that parses the same body and does nothing else. " +
    "Ratios are medians of those within each round. cpu: CPU time of the server for each send, deliveries included, which a busy machine disturbs least; its ratio is how much of it an empty route takes. " +
    `open-p99: ${RATE} sends a second, each at its time whatever became of those before, counted from then on.`,
  run: async () => {
    const ours: Load[] = [];
    const naive: Load[] = [];
    const empty: Load[] = [];
    const open: Load[] = [];
    for (let i = 0; i < ROUNDS; i++) {
      naive.push(await round(() => peer("naive")));
      ours.push(await round(mailsvc));
      empty.push(await round(() => peer("empty")));
      open.push(await round(mailsvc, RATE));
    }
    const rates = (loads: readonly Load[]): number[] => loads.map(({ perSecond }) => perSecond);
    const slowest = (loads: readonly Load[]): number[] => loads.map(({ p99 }) => p99);
    const ratio = (to: readonly Load[]): number => median(ours.map(({ perSecond }, i) => perSecond / (to[i]?.perSecond ?? Number.NaN)));
    const alone = (name: string, rounds: number[], unit: string): Figure => ({
      name,
      value: median(rounds),
      unit,
      against: null,
      ratio: null,
      rounds,
    });
    const own = alone("accept", rates(ours), "sends/s");
    const cpu = (loads: readonly Load[]): number[] => loads.flatMap((one) => one.cpu ?? []);
    const figures: Figure[] = [
      { ...own, name: "accept.vs-naive", against: "naive server", ratio: ratio(naive), goal: { op: ">=", than: 10 } },
      { ...own, name: "accept.vs-empty", against: "empty h3 route", ratio: ratio(empty), goal: { op: ">=", than: 0.4 } },
      { ...alone("accept.p99", slowest(ours), "ms"), goal: { op: "<=", than: 25 } },
      { ...alone("accept.open-p99", slowest(open), "ms"), goal: { op: "<=", than: 10 } },
      alone("accept.naive", rates(naive), "sends/s"),
      alone("accept.empty", rates(empty), "requests/s"),
    ];
    const [spent, least] = [cpu(ours), cpu(empty)];
    if (spent.length === ROUNDS)
      figures.push({ ...alone("accept.cpu", spent, "us/send"), against: "empty h3 route", ratio: median(least) / median(spent) });
    return figures;
  },
};

/** Load on a server that is started for it, at a rate or as fast as it answers. */
async function round(start: () => Promise<Contender>, rate?: number): Promise<Load> {
  const server = await start();
  try {
    const requests = sends(server.apiKey);
    return await load({
      port: server.port,
      pid: server.pid,
      requests,
      connections: CONNECTIONS,
      ...(rate !== undefined && { rate }),
      // Compilers are done by then: before, they take their share of the one core.
      warmupMs: 8000,
      durationMs: 3000,
      timeoutMs: 5000,
    });
  } finally {
    await server.stop();
  }
}
