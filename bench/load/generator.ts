// A load generator in its own process: HTTP/1.1 with keep-alive over plain sockets, requests built beforehand, and
// only status and length of the responses are parsed. Takes one order as an argument and prints one report to stdout.
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import type { Load, Order } from "./load.ts";

const order = JSON.parse(process.argv[2] ?? "") as Order;
const requests = order.requests.map((text) => Buffer.from(text));

/** Latencies in microseconds, a slot for each up to a minute in steps that grow by a hundredth. */
const slots = new Uint32Array(1900);

let sent = 0;
let done = 0;
let refused = 0;
let timeouts = 0;
let broken = 0;
let counting = false;
let over = false;
let sample = "";

/** With a rate: the times of requests that are due and that no connection has sent, and connections without a request. */
const due: number[] = [];
const idle: Client[] = [];

const CRLF2 = Buffer.from("\r\n\r\n");
const LAST_CHUNK = Buffer.from("0\r\n\r\n");

class Client {
  #socket: Socket | undefined;
  #buffer: Buffer | null = null;
  /** Time the request under way was sent, or the connection asked for; 0 when there is none. */
  #since = 0;

  open(): void {
    this.#since = order.rate === undefined ? performance.now() : 0;
    this.#buffer = null;
    const socket = connect({ port: order.port, host: "127.0.0.1", noDelay: true });
    this.#socket = socket;
    socket.on("connect", () => (order.rate === undefined ? this.#write() : this.next()));
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("error", () => {});
    socket.on("close", () => {
      if (over || socket !== this.#socket) return;
      if (idle.includes(this)) idle.splice(idle.indexOf(this), 1);
      if (this.#since > 0) broken += 1;
      setTimeout(() => this.open(), 10);
    });
  }

  /** Sends the request that has been due for longest, or waits for one. */
  next(): void {
    const since = order.rate === undefined ? performance.now() : due.shift();
    this.#since = since ?? 0;
    if (since === undefined) idle.push(this);
    else this.#write();
  }

  #write(): void {
    this.#socket?.write(requests[sent % requests.length] as Buffer);
    sent += 1;
  }

  #read(chunk: Buffer): void {
    this.#buffer = this.#buffer === null ? chunk : Buffer.concat([this.#buffer, chunk]);
    const length = lengthOfAnswer(this.#buffer);
    if (length === 0) return;
    const now = performance.now();
    if (counting) {
      // "HTTP/1.1 2": anything but success is no answer to be proud of.
      if (this.#buffer[9] === 0x32) {
        done += 1;
        const slot = slotOf((now - this.#since) * 1000);
        slots[slot] = (slots[slot] ?? 0) + 1;
      } else {
        refused += 1;
        sample ||= this.#buffer.toString("latin1", 0, 600);
      }
    }
    this.#buffer = null;
    if (!over) this.next();
  }

  /** Gives up a request that takes too long, as a client would. */
  giveUp(now: number): void {
    if (this.#since === 0 || now - this.#since < order.timeoutMs) return;
    timeouts += 1;
    this.#since = 0;
    this.#socket?.destroy();
  }
}

const clients = Array.from({ length: order.connections }, () => new Client());
for (const client of clients) client.open();
const watch = setInterval(() => {
  const now = performance.now();
  for (const client of clients) client.giveUp(now);
}, 100);

const { rate } = order;
if (rate !== undefined) {
  const since = performance.now();
  let asked = 0;
  setInterval(() => {
    for (; asked < ((performance.now() - since) / 1000) * rate; asked += 1) due.push(since + (asked * 1000) / rate);
    while (due.length > 0 && idle.length > 0) idle.shift()?.next();
  }, 1);
}

await new Promise((next) => setTimeout(next, order.warmupMs));
counting = true;
const startedAt = Date.now();
const from = performance.now();
const ticks = cpuTicks();
await new Promise((next) => setTimeout(next, order.durationMs));
const seconds = (performance.now() - from) / 1000;
const endedAt = Date.now();
const used = cpuTicks();
counting = false;
over = true;
clearInterval(watch);
const report: Load = {
  answers: done,
  perSecond: done / seconds,
  p50: quantile(0.5),
  p99: quantile(0.99),
  max: quantile(1),
  refused,
  timeouts,
  broken,
  cpu: ticks === null || used === null ? null : ((used - ticks) * 10_000) / done,
  startedAt,
  endedAt,
  sample,
};
process.stdout.write(JSON.stringify(report), () => process.exit(0));

function slotOf(us: number): number {
  return Math.min(slots.length - 1, Math.round(Math.log(Math.max(us, 1)) * 100));
}

function usOf(slot: number): number {
  return Math.exp(slot / 100);
}

/** Bytes of the answer at the head of `buffer`; 0 while it is not complete. */
function lengthOfAnswer(buffer: Buffer): number {
  const head = buffer.indexOf(CRLF2);
  if (head < 0) return 0;
  const headers = buffer.toString("latin1", 0, head).toLowerCase();
  const at = headers.indexOf("content-length:");
  if (at >= 0) {
    const total = head + 4 + Number.parseInt(headers.slice(at + 15), 10);
    return buffer.length >= total ? total : 0;
  }
  if (!headers.includes("transfer-encoding: chunked")) return head + 4;
  const end = buffer.indexOf(LAST_CHUNK, head + 4);
  return end < 0 ? 0 : end + LAST_CHUNK.length;
}

function quantile(part: number): number {
  let seen = 0;
  for (let slot = 0; slot < slots.length; slot++) {
    seen += slots[slot] ?? 0;
    if (seen >= done * part && seen > 0) return usOf(slot) / 1000;
  }
  return 0;
}

/** CPU time the process has used so far, in ticks of 10 ms. */
function cpuTicks(): number | null {
  try {
    // After the name in brackets: state is the third field, user and system time the 14th and 15th.
    const fields = readFileSync(`/proc/${order.pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    return Number(fields[11]) + Number(fields[12]);
  } catch {
    return null;
  }
}
