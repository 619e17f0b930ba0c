import { mailsvc } from "../contenders.ts";
import { type Bench, type Figure, median } from "../figure.ts";
import { batches, type Load, load, sends } from "../load/load.ts";

const ROUNDS = 3;
const EMAILS = 100;
// Fewer leave the server waiting for them.
const BATCHING = 8;

/** Emails that batches of a hundred get accepted, against single sends. */
export const batch: Bench = {
  name: "batch",
  meaning:
    `Emails a second that ${BATCHING} connections get accepted in batches of 100, against single sends at 100 connections of the same server, while it ` +
    "also delivers in the background. cpu: CPU time of the server for each email, deliveries included.",
  run: async () => {
    const [single, together]: [Load[], Load[]] = [[], []];
    for (let i = 0; i < ROUNDS; i++) {
      single.push(await round(sends, 100));
      together.push(await round(batches, BATCHING));
    }
    const ratio = (of: (one: Load) => number): number => median(together.map((one, i) => of(one) / of(single[i] as Load)));
    const perEmail = ({ cpu }: Load, emails: number): number => (cpu ?? Number.NaN) / emails;
    const rounds = together.map(({ perSecond }) => perSecond * EMAILS);
    const figures: Figure[] = [
      {
        name: "batch",
        value: median(rounds),
        unit: "emails/s",
        against: "single sends",
        ratio: ratio(({ perSecond }) => perSecond) * EMAILS,
        goal: { op: ">=", than: 3 },
        rounds,
      },
    ];
    const spent = together.map((one) => perEmail(one, EMAILS));
    if (spent.every(Number.isFinite))
      figures.push({
        name: "batch.cpu",
        value: median(spent),
        unit: "us/email",
        against: "single sends",
        ratio: median(spent) / median(single.map((one) => perEmail(one, 1))),
        goal: { op: "<=", than: 1 / 3 },
      });
    return figures;
  },
};

async function round(requests: (apiKey: string) => string[], connections: number): Promise<Load> {
  const server = await mailsvc();
  try {
    const { port, pid, apiKey } = server;
    return await load({ port, pid, requests: requests(apiKey), connections, warmupMs: 8000, durationMs: 3000, timeoutMs: 30_000 });
  } finally {
    await server.stop();
  }
}
