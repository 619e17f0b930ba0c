import { fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import type { Found, Living } from "./live.ts";

const PROGRAM = fileURLToPath(new URL("../../scripts/worlds.mjs", import.meta.url));

/** The message of a process to the one that started it. */
export type Sent = { readonly line: string } | { readonly part: Part } | { readonly found: Found } | { readonly beat: string };

/** Silence after which a process turns in circles for certain, ms: it says every five seconds that its timers fire. */
const SILENCE_MS = 120_000;

/** The worlds of one of several processes. */
export interface Part {
  readonly worlds: number;
  readonly failures: number;
  readonly due: readonly string[];
  readonly tried: readonly string[];
}

type Args = Readonly<Record<string, string | number | boolean | undefined>>;

function start(
  args: Args,
  share: string,
  on: (sent: Sent) => void,
  hangs: (what: string) => void,
): { readonly kill: () => void; readonly ended: Promise<number | null> } {
  const words = Object.entries<Args[string]>({ ...args, share }).flatMap(([name, value]) =>
    value === undefined || value === false ? [] : typeof value === "boolean" ? [`--${name}`] : [`--${name}`, `${value}`],
  );
  // In a group of its own, so that a database that it has started ends with it.
  const child = fork(PROGRAM, words, { stdio: ["ignore", "inherit", "inherit", "ipc"], detached: true });
  const kill = (): void => {
    try {
      process.kill(-(child.pid as number), "SIGKILL");
    } catch {
      // All of it has ended.
    }
  };
  process.once("exit", kill);
  let world = "its first world";
  const give = (): void => {
    kill();
    hangs(`hang: The process of ${world} does nothing else any more.`);
  };
  let silence = setTimeout(give, SILENCE_MS);
  child.on("message", (message) => {
    const sent = message as Sent;
    clearTimeout(silence);
    silence = setTimeout(give, SILENCE_MS);
    if ("beat" in sent) world = sent.beat;
    else on(sent);
  });
  const ended = new Promise<number | null>((done) => child.on("close", done)).finally(() => {
    clearTimeout(silence);
    process.off("exit", kill);
  });
  return { kill, ended };
}

/** Lives through worlds in as many processes as there are cores, each of which takes every so many-th seed. */
export async function liveTogether({ log, from, ...living }: Living, processes = availableParallelism()): Promise<readonly Part[]> {
  const parts: Part[] = [];
  const count = Math.min(processes, living.count);
  const take = (sent: Sent): void => {
    if ("line" in sent) log(sent.line);
    if ("part" in sent) parts.push(sent.part);
  };
  const codes = await Promise.all(
    Array.from({ length: count }, (_, i) => {
      const { count: worlds, minutes, ...rest } = living;
      const own = { ...rest, seed: from, count: Math.ceil((worlds - i) / count), ...(Number.isFinite(minutes) && { minutes }) };
      return start(own, `${i}/${count}`, take, (what) => {
        log(what);
        parts.push({ worlds: 1, failures: 1, due: [], tried: [] });
      }).ended;
    }),
  );
  if (parts.length < count) throw new Error(`A process that lived through worlds ended with ${codes.join(" and ")}.`);
  return parts;
}

/** Lives through worlds with a fault in as many processes as there are cores until one of them finds it, and adds up their worlds. */
export async function findTogether(args: Args & { readonly minutes: number }, processes = availableParallelism()): Promise<Found> {
  const began = performance.now();
  const worlds = Array.from({ length: processes }, () => 0);
  let broken: readonly string[] = [];
  const end = (found: readonly string[]): void => {
    if (found.length === 0 || broken.length > 0) return;
    broken = found;
    for (const { kill } of running) kill();
  };
  const running = worlds.map((_, i) =>
    start(
      args,
      `${i}/${processes}`,
      (sent) => {
        if (!("found" in sent)) return;
        worlds[i] = sent.found.worlds;
        end(sent.found.broken);
      },
      (what) => end([what]),
    ),
  );
  const late = setTimeout(() => end([`hang: A world did not come to rest in ${args.minutes + 1} minutes.`]), (args.minutes + 1) * 60_000);
  await Promise.all(running.map(({ ended }) => ended));
  clearTimeout(late);
  return { worlds: worlds.reduce((all, n) => all + n, 0), seconds: (performance.now() - began) / 1000, broken };
}
