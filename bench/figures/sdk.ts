import { Mailsvc } from "@mailsvc/sdk";
import { Agent, request } from "undici";
import { peer } from "../contenders.ts";
import { type Bench, type Figure, median } from "../figure.ts";

const ROUNDS = 9;
const WARM_UP = 3;
const CALLS = 4000;
const AT_ONCE = 10;
const MAIL = { from: "a@acme.example", to: "ada@example.com", subject: "Hello", text: "It works." };

/** A call of the SDK, against the bare request it makes. */
export const sdk: Bench = {
  name: "sdk",
  meaning:
    "Processor time of this process for emails.send of the SDK, ten at once, to an empty route in another process: time limits, an Idempotency-Key, retries and reading of errors included. " +
    "undici: request() of the same body with the same headers, and json() of the response. The ratio is the median of those within each round, the two in turns.",
  run: async (): Promise<Figure[]> => {
    const server = await peer("empty");
    const dispatcher = new Agent({ connections: AT_ONCE });
    try {
      const client = new Mailsvc({ apiKey: "ms_live_bench", baseUrl: server.url, dispatcher });
      const ours = async (): Promise<unknown> => client.emails.send(MAIL);
      const headers = {
        authorization: "Bearer ms_live_bench",
        "content-type": "application/json",
        accept: "application/json",
        "user-agent": "mailsvc-sdk/0.1.0 (node 24.21.0)",
        "idempotency-key": "5f0c1f5e-7b4f-4f8e-9b3c-1a2b3c4d5e6f",
      };
      const bare = async (): Promise<unknown> => {
        const response = await request(`${server.url}/api/v1/send`, { method: "POST", headers, body: JSON.stringify(MAIL), dispatcher });
        return response.body.json();
      };
      const rounds: [bare: number, ours: number][] = [];
      for (let i = 0; i < WARM_UP + ROUNDS; i += 1) rounds.push([await cpuPerCall(bare), await cpuPerCall(ours)]);
      rounds.splice(0, WARM_UP);
      return [
        {
          name: "sdk.send",
          value: median(rounds.map(([, own]) => own)),
          unit: "µs of processor time a call",
          against: "undici",
          ratio: median(rounds.map(([theirs, own]) => theirs / own)),
          rounds: rounds.map(([, own]) => own),
          goal: { op: ">=", than: 0.7 },
        },
      ];
    } finally {
      await dispatcher.close();
      await server.stop();
    }
  },
};

async function cpuPerCall(call: () => Promise<unknown>): Promise<number> {
  let left = CALLS;
  const line = async (): Promise<void> => {
    for (; left > 0; left -= 1) await call();
  };
  const from = process.cpuUsage();
  await Promise.all(Array.from({ length: AT_ONCE }, line));
  const { user, system } = process.cpuUsage(from);
  return (user + system) / CALLS;
}
