import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocket } from "undici";
import { mailsvc } from "../contenders.ts";
import { type Bench, type Figure, median } from "../figure.ts";
import { startMixedLoad } from "../load/mixed.ts";

/** Enough for V8 to reach the size of its young generation and for SQLite to fill its caches; after 60,000 they were still filling. */
const WARMUP_REQUESTS = 150_000;
const SAMPLE_MS = 2000;
/** Number of samples at the start and again at the end: of the resident memory, and of the memory after a garbage collection. */
const SAMPLES = 10;
const HELD_SAMPLES = 10;
/** The load that the slope is given for: a leak holds this many bytes for each request, however fast they come. */
const REFERENCE_RATE = 150;
const MB = 2 ** 20;

interface Sample {
  /** Requests answered so far. */
  requests: number;
  /** Resident memory, in MB. */
  resident: number;
  /** The JavaScript heap in use, in MB. */
  heap: number;
}

/** Test that the server's memory stays constant under a steady load. */
export const soak: Bench = {
  name: "soak",
  onlyByName: true,
  meaning:
    "Resident memory under a steady load, on SQLite with capture: two sends, an upsert, a search, an email, pages of emails, contacts and events in turn, while a webhook and four followers get all events; after the start, after a warm-up of 150,000 requests, and at the end. " +
    "held: resident memory at the end right after a full garbage collection, and slope: how fast that grew after the warm-up, for an hour at 150 requests a second. Without the collections V8 lets its heap rise and fall by megabytes, more than a leak holds in minutes. " +
    "--minutes and --rate choose how long and how fast: at 600 a second, three minutes are as many requests as twelve at 150.",
  run: async ({ minutes, rate }) => {
    const [metricsPort, inspectorPort] = [await getFreePort(), await getFreePort()];
    const server = await mailsvc({
      flags: ["--metrics", `127.0.0.1:${metricsPort}`],
      before: ["env", `NODE_OPTIONS=--inspect=127.0.0.1:${inspectorPort}`],
    });
    const inspector = await openInspector(inspectorPort);
    const metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
    const load = await startMixedLoad(server);
    try {
      const start = await readSample(metricsUrl, 0);
      await load.run({ rate: Number.POSITIVE_INFINITY, until: () => load.answered() >= WARMUP_REQUESTS });
      const sample = async (n: number, beforeEach: () => Promise<unknown>): Promise<Sample[]> => {
        const samples: Sample[] = [];
        while (samples.length < n) {
          await new Promise((next) => setTimeout(next, SAMPLE_MS));
          await beforeEach();
          samples.push(await readSample(metricsUrl, load.answered()));
        }
        return samples;
      };
      const observe = async (): Promise<Observed> => ({
        resident: await sample(SAMPLES, async () => {}),
        held: await sample(HELD_SAMPLES, () => inspector.collectGarbage()),
      });
      let over = false;
      const observing = (async () => {
        const before = await observe();
        await new Promise((next) => setTimeout(next, minutes * 60_000));
        return { before, after: await observe() };
      })().finally(() => {
        over = true;
      });
      const [{ before, after }] = await Promise.all([observing, load.run({ rate, until: () => over })]);
      return toFigures(start, before, after);
    } finally {
      inspector.close();
      await load.close();
      await server.stop();
    }
  },
};

/** Samples at one end of a soak: as it runs, and right after garbage was collected. */
export interface Observed {
  readonly resident: readonly Sample[];
  readonly held: readonly Sample[];
}

/** The figures of a soak. */
export function toFigures(start: Sample, before: Observed, after: Observed): Figure[] {
  const requests = middle(after.held, "requests") - middle(before.held, "requests");
  const slope = (key: "resident" | "heap") => ((least(after.held, key) - least(before.held, key)) / requests) * REFERENCE_RATE * 3600;
  const figure = (name: string, value: number, unit: string) => ({ name: `soak.${name}`, value, unit, against: null, ratio: null });
  const residents = ({ resident }: Observed): number[] => resident.map((sample) => sample.resident);
  return [
    figure("start", start.resident, "MB"),
    { ...figure("warm", middle(before.resident, "resident"), "MB"), rounds: residents(before) },
    { ...figure("end", middle(after.resident, "resident"), "MB"), rounds: residents(after) },
    figure("held", least(after.held, "resident"), "MB"),
    { ...figure("slope", slope("resident"), "MB/h"), goal: { op: "<", than: 5 } },
    figure("slope.heap", slope("heap"), "MB/h"),
  ];
}

function middle(samples: readonly Sample[], key: keyof Sample): number {
  return median(samples.map((sample) => sample[key]));
}

/** Returns the lowest sample: allocations between a garbage collection and the reading count as well, megabytes on a busy machine. */
function least(samples: readonly Sample[], key: keyof Sample): number {
  return Math.min(...samples.map((sample) => sample[key]));
}

async function readSample(url: string, requests: number): Promise<Sample> {
  const text = await (await fetch(url)).text();
  const read = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]) / MB;
  return { requests, resident: read("process_resident_memory_bytes"), heap: read("nodejs_heap_size_used_bytes") };
}

interface Inspector {
  collectGarbage(): Promise<void>;
  close(): void;
}

/** Connects to the inspector of a process. Throws if it does not answer. */
async function openInspector(port: number): Promise<Inspector> {
  const [target] = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as { webSocketDebuggerUrl: string }[];
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? "");
  await once(socket, "open");
  let id = 0;
  return {
    collectGarbage: async () => {
      id += 1;
      const answered = once(socket, "message");
      socket.send(JSON.stringify({ id, method: "HeapProfiler.collectGarbage" }));
      await answered;
    },
    close: () => socket.close(),
  };
}

async function getFreePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}
