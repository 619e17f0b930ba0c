import { createServer, type Server, type Socket } from "node:net";
import { toNumber } from "./stack.ts";

const REPLIES: Readonly<Record<string, string>> = {
  EHLO: "250-next\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 SMTPUTF8\r\n",
  HELO: "250 next\r\n",
  DATA: "354 go on\r\n",
  QUIT: "221 bye\r\n",
};

/** The next mail server, the same for all stacks. It takes everything, and notes how often each mail came: by the number in its subject. */
export class NextMailServer {
  readonly #server: Server;
  readonly #taken = new Map<number, number>();
  #lastAt = 0;

  static async start(): Promise<NextMailServer> {
    const next = new NextMailServer();
    await new Promise<void>((done) => next.#server.listen(0, "127.0.0.1", done));
    return next;
  }

  private constructor() {
    this.#server = createServer({ noDelay: true }, (socket) => this.#talk(socket));
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address ? address.port : 0;
  }

  /** Number of deliveries of each mail, by the mail's number. */
  get taken(): ReadonlyMap<number, number> {
    return this.#taken;
  }

  /** Arrival of the last mail, by `performance.now()`; 0 before the first. */
  get lastAt(): number {
    return this.#lastAt;
  }

  forget(): void {
    this.#taken.clear();
    this.#lastAt = 0;
  }

  async stop(): Promise<void> {
    await new Promise((done) => this.#server.close(done));
  }

  #talk(socket: Socket): void {
    let pending = "";
    let inData = false;
    socket.setEncoding("latin1");
    socket.on("error", () => {});
    socket.write("220 next\r\n");
    socket.on("data", (text: string) => {
      pending += text;
      let answers = "";
      for (;;) {
        const mark = inData ? "\r\n.\r\n" : "\r\n";
        const at = pending.indexOf(mark);
        if (at < 0) break;
        const piece = pending.slice(0, at);
        pending = pending.slice(at + mark.length);
        if (inData) {
          inData = false;
          this.#take(piece);
          answers += "250 2.0.0 taken\r\n";
          continue;
        }
        const verb = piece.slice(0, 4).toUpperCase();
        inData = verb === "DATA";
        answers += REPLIES[verb] ?? "250 ok\r\n";
      }
      if (answers && !socket.destroyed) socket.write(answers);
    });
  }

  #take(message: string): void {
    const n = toNumber(/^Subject: (.*)$/im.exec(message)?.[1] ?? "");
    if (Number.isNaN(n)) return;
    this.#taken.set(n, (this.#taken.get(n) ?? 0) + 1);
    this.#lastAt = performance.now();
  }
}
