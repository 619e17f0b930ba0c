import { execFileSync } from "node:child_process";
import { mailsvc } from "../contenders.ts";
import { type Bench, median } from "../figure.ts";
import { load, sends } from "../load/load.ts";

const ROUNDS = 3;
const SETTLE_MS = 1500;

/** Memory of the server. */
export const memory: Bench = {
  name: "memory",
  meaning: "Resident memory of the server process: idle, a while after its start, and at the end of 3 s of sends at 100 connections.",
  run: async () => {
    const idle: number[] = [];
    const loaded: number[] = [];
    for (let i = 0; i < ROUNDS; i++) {
      const server = await mailsvc();
      try {
        await new Promise((next) => setTimeout(next, SETTLE_MS));
        idle.push(residentMb(server.pid));
        const requests = sends(server.apiKey);
        await load({ port: server.port, requests, connections: 100, warmupMs: 0, durationMs: 3000, timeoutMs: 5000 });
        loaded.push(residentMb(server.pid));
      } finally {
        await server.stop();
      }
    }
    return [
      { name: "memory.idle", value: median(idle), unit: "MB", against: null, ratio: null, goal: { op: "<=", than: 105 }, rounds: idle },
      { name: "memory.loaded", value: median(loaded), unit: "MB", against: null, ratio: null, rounds: loaded },
    ];
  },
};

/** The resident memory of a process, in MB. */
export function residentMb(pid: number): number {
  return Number(execFileSync("ps", ["-o", "rss=", "-p", `${pid}`], { encoding: "utf8" })) / 1024;
}
