import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Contender, mailsvc, peer } from "../contenders.ts";
import type { Bench, Figure } from "../figure.ts";
import { load, sends } from "../load/load.ts";

/** The number of fsync and fdatasync calls per send. */
export const fsync: Bench = {
  name: "fsync",
  meaning:
    "fsync and fdatasync calls of the whole process for each accepted send at 100 connections, seen from outside by strace; those of background deliveries and checkpoints count as well. " +
    "A disk that needs 5 ms for each makes this the figure that decides.",
  run: async () => {
    if (!hasStrace()) throw new Error("strace is not to be had here, and the calls are counted from outside with it.");
    return [
      { ...(await round("fsync.per-send", (before) => mailsvc({ before }))), goal: { op: "<=", than: 1 / 32 } },
      await round("fsync.naive", (before) => peer("naive", before)),
    ];
  },
};

function hasStrace(): boolean {
  try {
    execFileSync("strace", ["-D", "--seccomp-bpf", "-f", "-o", "/dev/null", "-e", "trace=fsync", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** The times in seconds at which a traced process called fsync or fdatasync. */
function syncs(file: string): number[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => /\bf(?:data)?sync\(/.test(line))
    .map((line) => Number(/(\d+\.\d+) f(?:data)?sync\(/.exec(line)?.[1]));
}

async function round(name: string, start: (trace: string[]) => Promise<Contender>): Promise<Figure> {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-trace-"));
  const file = join(folder, "syncs");
  try {
    const server = await start(["strace", "-D", "--seccomp-bpf", "-f", "-ttt", "-o", file, "-e", "trace=fsync,fdatasync"]);
    const requests = sends(server.apiKey);
    const { answers, startedAt, endedAt } = await load({
      port: server.port,
      requests,
      connections: 100,
      warmupMs: 1000,
      durationMs: 3000,
      timeoutMs: 5000,
    });
    await server.stop();
    const counted = syncs(file).filter((at) => at * 1000 >= startedAt && at * 1000 < endedAt).length;
    return { name, value: counted / answers, unit: "syncs/send", against: null, ratio: null };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
