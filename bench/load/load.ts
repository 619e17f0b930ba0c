import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { onCore } from "../cores.ts";

/** Order to the generator. */
export interface Order {
  port: number;
  /** Whole requests, sent in turn. */
  requests: string[];
  connections: number;
  /**
   * Requests a second, each at its time whatever became of those before (an open loop): a latency counts from the time at which the request
   * is due. Without it each connection sends the next request at the answer to the last one.
   */
  rate?: number;
  /** Load before the counting begins; 0 counts the storm of connections as well. */
  warmupMs: number;
  durationMs: number;
  /** After this long a request is given up and its connection made anew. */
  timeoutMs: number;
  /** The process whose CPU time is measured. */
  pid?: number;
}

/** The result of a load. Latencies in ms; the first request of a connection includes connecting. */
export interface Load {
  /** Answers with a 2xx status. */
  answers: number;
  perSecond: number;
  p50: number;
  p99: number;
  max: number;
  /** Answers with another status. */
  refused: number;
  timeouts: number;
  /** Connections that broke in the middle of a request. */
  broken: number;
  /** CPU time of the process for each answer, in microseconds; null where the system does not tell. */
  cpu: number | null;
  startedAt: number;
  endedAt: number;
  /** The first answer with another status. */
  sample: string;
}

const GENERATOR = fileURLToPath(new URL("generator.ts", import.meta.url));

/** Puts a server under load from a process on the second core. Throws when it answers anything but success. */
export async function load(order: Order): Promise<Load> {
  const [command = "", ...args] = [...onCore(1), process.execPath, GENERATOR, JSON.stringify(order)];
  const { stdout } = await promisify(execFile)(command, args, { maxBuffer: 1 << 20 });
  const report = JSON.parse(stdout) as Load;
  if (report.refused > 0) throw new Error(`The server refused ${report.refused} requests:\n${report.sample}`);
  return report;
}

/** The mail of the benchmarks: about 1 KB as a request. */
export const BODY = {
  from: "Acme <hello@bench.acme.dev>",
  subject: "Your receipt",
  html: `<p>${"A receipt with a little of everything in it. ".repeat(14)}</p>`,
  text: "A receipt with a little of everything in it.",
};

/** Sends to many recipients. */
export function sends(apiKey: string): string[] {
  return Array.from({ length: 97 }, (_, i) => toRequest("/api/v1/send", apiKey, sendTo(i)));
}

/** A batch of a hundred sends; more of them would not fit into the arguments of the generator. */
export function batches(apiKey: string): string[] {
  return [toRequest("/api/v1/send/batch", apiKey, { emails: Array.from({ length: 100 }, (_, i) => sendTo(i)) })];
}

function sendTo(i: number) {
  return { ...BODY, to: `reader${i}@mail.acme.dev`, tags: { kind: "receipt", batch: `${i % 7}` } };
}

function toRequest(path: string, apiKey: string, content: unknown): string {
  const body = JSON.stringify(content);
  return (
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nauthorization: Bearer ${apiKey}\r\n` +
    `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
}
