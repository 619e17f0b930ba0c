import { mailsvc } from "../contenders.ts";
import { type Bench, median } from "../figure.ts";
import { load, sends } from "../load/load.ts";

const ROUNDS = 5;

/** Slowest answers compared with the usual ones when many connect at once. */
export const tail: Bench = {
  name: "tail",
  meaning:
    "500 clients connect at the same instant to a server that has just started, and send for 5 s. The first answer of each is counted from its attempt to connect; " +
    "p99/p50 says how evenly they are served, and a timeout is an answer that took more than 5 s (the sum over all rounds is given).",
  run: async () => {
    const p50: number[] = [];
    const p99: number[] = [];
    let timeouts = 0;
    for (let i = 0; i < ROUNDS; i++) {
      const server = await mailsvc();
      try {
        const requests = sends(server.apiKey);
        const got = await load({ port: server.port, requests, connections: 500, warmupMs: 0, durationMs: 5000, timeoutMs: 5000 });
        p50.push(got.p50);
        p99.push(got.p99);
        timeouts += got.timeouts + got.broken;
      } finally {
        await server.stop();
      }
    }
    const ratio = median(p99.map((value, i) => value / (p50[i] ?? Number.NaN)));
    return [
      { name: "tail.p99", value: median(p99), unit: "ms", against: "its own p50", ratio, goal: { op: "<=", than: 5 }, rounds: p99 },
      { name: "tail.p50", value: median(p50), unit: "ms", against: null, ratio: null, rounds: p50 },
      { name: "tail.timeouts", value: timeouts, unit: "requests", against: null, ratio: null, goal: { op: "<=", than: 0 } },
    ];
  },
};
