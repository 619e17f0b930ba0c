import { connect, type Socket } from "node:net";
import { Client } from "undici";
import { BODY } from "../load/load.ts";
import { type Entrance, toSubject } from "./stack.ts";

/** Hands mails to a stack, one at a time. */
interface Line {
  /** Settles when the stack has said that it has the mail; rejects when it says anything else or the connection breaks. */
  send(n: number): Promise<void>;
  close(): void;
}

/**
 * Sends mails over `connections` connections until `enough`, each with a number of its own as its subject. A mail is never sent a second
 * time: when a connection breaks, the next mail goes over a new one. Returns the numbers of those that were acknowledged.
 */
export async function sendMails(entrance: Entrance, connections: number, enough: (acknowledged: number) => boolean): Promise<Set<number>> {
  const acknowledged = new Set<number>();
  let next = 0;
  const run = async (): Promise<void> => {
    let line: Line | null = null;
    while (!enough(acknowledged.size)) {
      const n = next++;
      try {
        line ??= await open(entrance);
        await line.send(n);
        acknowledged.add(n);
      } catch {
        line?.close();
        line = null;
        // The stack is down; a moment later it may not be.
        await new Promise((done) => setTimeout(done, 20));
      }
    }
    line?.close();
  };
  await Promise.all(Array.from({ length: connections }, run));
  return acknowledged;
}

function open(entrance: Entrance): Promise<Line> {
  return entrance.kind === "http" ? openHttp(entrance) : openSmtp(entrance.port);
}

async function openHttp({ port, path, headers }: Extract<Entrance, { kind: "http" }>): Promise<Line> {
  const client = new Client(`http://127.0.0.1:${port}`, { headersTimeout: 30_000, bodyTimeout: 30_000 });
  const all = { "content-type": "application/json", ...headers };
  return {
    send: async (n) => {
      const body = JSON.stringify({ ...BODY, to: `reader${n % 97}@mail.acme.dev`, subject: toSubject(n) });
      const answer = await client.request({ method: "POST", path, headers: all, body });
      await answer.body.dump();
      if (answer.statusCode !== 200) throw new Error(`${answer.statusCode}`);
    },
    close: () => void client.destroy().catch(() => {}),
  };
}

async function openSmtp(port: number): Promise<Line> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  const answers = new Answers(socket);
  let pipelining = false;
  try {
    await answers.next("220");
    socket.write("EHLO load.example\r\n");
    pipelining = /^250.PIPELINING$/im.test(await answers.next("250"));
  } catch (error) {
    socket.destroy();
    throw error;
  }
  return {
    send: async (n) => {
      const commands = ["MAIL FROM:<hello@bench.acme.dev>", `RCPT TO:<reader${n % 97}@mail.acme.dev>`, "DATA"];
      if (pipelining) socket.write(`${commands.join("\r\n")}\r\n`);
      for (const command of commands) {
        if (!pipelining) socket.write(`${command}\r\n`);
        await answers.next(command === "DATA" ? "354" : "250");
      }
      socket.write(toMessage(n));
      await answers.next("250");
    },
    close: () => void socket.destroy(),
  };
}

function toMessage(n: number): string {
  return [
    `From: ${BODY.from}`,
    `To: reader${n % 97}@mail.acme.dev`,
    `Subject: ${toSubject(n)}`,
    `Message-ID: <${n}@bench.acme.dev>`,
    `Date: ${new Date().toUTCString().replace("GMT", "+0000")}`,
    "MIME-Version: 1.0",
    "Content-Type: text/html; charset=utf-8",
    "",
    BODY.html,
    ".",
    "",
  ].join("\r\n");
}

/** The replies of a mail server, one after the other. */
class Answers {
  readonly #waiting: { readonly code: string; done(reply: string): void; failed(error: Error): void }[] = [];
  readonly #replies: string[] = [];
  #pending = "";
  #reply = "";
  #over = false;

  constructor(socket: Socket) {
    socket.setEncoding("latin1");
    socket.setTimeout(30_000, () => socket.destroy());
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#over = true;
      for (const one of this.#waiting.splice(0)) one.failed(new Error("closed"));
    });
    socket.on("data", (text: string) => {
      const lines = (this.#pending + text).split("\r\n");
      this.#pending = lines.pop() ?? "";
      for (const line of lines) this.#read(line);
      this.#serve();
    });
  }

  /** Returns the next reply, all its lines; throws if its code is another one. */
  next(code: string): Promise<string> {
    return new Promise((done, failed) => {
      if (this.#over) failed(new Error("closed"));
      this.#waiting.push({ code, done, failed });
      this.#serve();
    });
  }

  #read(line: string): void {
    this.#reply += `${line}\n`;
    // Only the last line of a reply has a blank after its code.
    if (line[3] !== " ") return;
    this.#replies.push(this.#reply);
    this.#reply = "";
  }

  #serve(): void {
    while (this.#waiting.length > 0 && this.#replies.length > 0) {
      const [one, reply = ""] = [this.#waiting.shift(), this.#replies.shift()];
      if (reply.startsWith(one?.code ?? "")) one?.done(reply);
      else one?.failed(new Error(reply));
    }
  }
}
