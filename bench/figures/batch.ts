import { mailsvc } from "../contenders.ts";
import { type Bench, type Figure, median } from "../figure.ts";
import { batches, type Load, load, sends } from "../load/load.ts";

const ROUNDS = 3;
const EMAILS = 100;
// Fewer leave the server waiting for them.
const CONNECTIONS = 8;
const MOST_CONNECTIONS = 100;

/** Emails that batches of a hundred get accepted, against single sends. */
export const batch: Bench = {
  name: "batch",
  meaning:
    `Emails a second that ${CONNECTIONS} connections get accepted in batches of ${EMAILS}, against single sends over as many connections, while the server ` +
    `also delivers in the background. batch.most: against single sends at ${MOST_CONNECTIONS} connections, which share transactions. cpu: CPU time of the server for each ` +
    "email, deliveries included, against single sends at as many connections as batches.",
  run: async () => {
    const [single, most, together]: [Load[], Load[], Load[]] = [[], [], []];
    for (let i = 0; i < ROUNDS; i++) {
      single.push(await round(sends, CONNECTIONS));
      most.push(await round(sends, MOST_CONNECTIONS));
      together.push(await round(batches, CONNECTIONS));
    }
    const rounds = together.map(({ perSecond }) => perSecond * EMAILS);
    const against = (others: readonly Load[]): number => median(rounds.map((rate, i) => rate / (others[i] as Load).perSecond));
    const emails = { value: median(rounds), unit: "emails/s", rounds };
    const figures: Figure[] = [
      { ...emails, name: "batch", against: "single sends", ratio: against(single), goal: { op: ">=", than: 3 } },
      { ...emails, name: "batch.most", against: `single sends at ${MOST_CONNECTIONS} connections`, ratio: against(most) },
    ];
    const perEmail = ({ cpu }: Load, count: number): number => (cpu ?? Number.NaN) / count;
    const spent = together.map((one) => perEmail(one, EMAILS));
    if (spent.every(Number.isFinite)) {
      const ratio = median(spent) / median(single.map((one) => perEmail(one, 1)));
      figures.push({ name: "batch.cpu", value: median(spent), unit: "us/email", against: "single sends", ratio });
    }
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
