// A generator of SMTP load in its own process: connections that log in once and submit one message after the other, each with the commands of
// the next one pipelined behind its last dot. Takes one order as an argument and prints one report to stdout.
import { connect, type Socket } from "node:net";
import { cpuOf } from "../cpu.ts";
import type { SmtpLoad, SmtpOrder } from "./smtp-load.ts";

const order = JSON.parse(process.argv[2] ?? "") as SmtpOrder;
const message = Buffer.from(`${order.message}.\r\n`);
const login = order.apiKey === null ? "" : `AUTH PLAIN ${Buffer.from(`\0bench\0${order.apiKey}`).toString("base64")}\r\n`;

let sent = 0;
let done = 0;
let sample = "";
let counting = false;
let over = false;

class Client {
  readonly #socket: Socket;
  #text = "";
  #phase: "greeting" | "login" | "envelope" | "message" = "greeting";

  constructor() {
    this.#socket = connect({ port: order.port, host: "127.0.0.1", noDelay: true });
    this.#socket.setEncoding("latin1");
    this.#socket.on("data", (chunk: string) => {
      const lines = (this.#text + chunk).split("\r\n");
      this.#text = lines.pop() ?? "";
      for (const line of lines) if (line[3] === " ") this.#reply(line);
    });
    this.#socket.on("error", () => {});
    this.#socket.on("close", () => {
      if (!over) sample ||= "The connection ended.";
    });
  }

  #reply(line: string): void {
    if (/^[45]/.test(line)) sample ||= line;
    if (over) return;
    if (this.#phase === "greeting" && line.startsWith("220")) {
      this.#phase = login === "" ? "envelope" : "login";
      this.#socket.write(`EHLO bench\r\n${login}${login === "" ? nextEnvelope() : ""}`);
    } else if (this.#phase === "login" && line.startsWith("235")) {
      this.#phase = "envelope";
      this.#socket.write(nextEnvelope());
    } else if (this.#phase === "envelope" && line.startsWith("354")) {
      this.#phase = "message";
      this.#socket.cork();
      this.#socket.write(message);
      this.#socket.write(nextEnvelope());
      this.#socket.uncork();
    } else if (this.#phase === "message" && line.startsWith("250")) {
      this.#phase = "envelope";
      if (counting) done += 1;
    }
  }
}

function nextEnvelope(): string {
  sent += 1;
  return `MAIL FROM:<hello@bench.acme.dev>\r\nRCPT TO:<reader${sent % 97}@${order.domain}>\r\nDATA\r\n`;
}

const clients = Array.from({ length: order.connections }, () => new Client());
await new Promise((next) => setTimeout(next, order.warmupMs));
counting = true;
const from = performance.now();
const before = cpuOf(order.pids);
await new Promise((next) => setTimeout(next, order.durationMs));
const seconds = (performance.now() - from) / 1000;
const used = cpuOf(order.pids) - before;
over = true;
const report: SmtpLoad = { perSecond: done / seconds, cpu: used / done, refused: sample, connections: clients.length };
process.stdout.write(JSON.stringify(report), () => process.exit(0));
