import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import type { ReceivedMail } from "../src/mail/mailer.laws.ts";

interface PeerMail extends ReceivedMail {
  secure: boolean;
  user: unknown;
  smtpUtf8: boolean;
  /** Name that the client gave in EHLO. */
  ehlo: string;
}

export interface SmtpPeer {
  port: number;
  mails: PeerMail[];
  /** The most connections open at one time, and how many there were in all. */
  connections: { open: number; peak: number; total: number };
  close(): Promise<void>;
}

/** An independent SMTP server on loopback, TLS offered with its self-signed certificate. */
export async function smtpPeer(options: SMTPServerOptions = {}): Promise<SmtpPeer> {
  const mails: PeerMail[] = [];
  const connections = { open: 0, peak: 0, total: 0 };
  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    closeTimeout: 100,
    onConnect: (_session, done) => {
      connections.open += 1;
      connections.total += 1;
      connections.peak = Math.max(connections.peak, connections.open);
      done();
    },
    onClose: () => {
      connections.open -= 1;
    },
    onData: (stream, session, done) => {
      const { mailFrom, rcptTo, smtpUtf8 } = session.envelope as typeof session.envelope & { smtpUtf8?: boolean };
      buffer(stream).then((raw) => {
        mails.push({
          from: mailFrom === false ? "" : mailFrom.address,
          to: rcptTo[0]?.address ?? "",
          raw,
          secure: session.secure,
          user: session.user,
          smtpUtf8: smtpUtf8 === true,
          ehlo: session.hostNameAppearsAs,
        });
        done();
      }, done);
    },
    ...options,
  });
  // Clients that hang up in the middle are what some tests are about.
  server.on("error", () => {});
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    connections,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

/**
 * Reaction of a scripted peer to a step: a reply, once what `after` promises has happened, silence, hanging up (after a last word, when
 * there is one), or a TCP reset.
 */
export type Step = { reply: string; after?: () => Promise<void> } | { silence: true } | { hangUp: string } | { reset: true };

/** A list of steps is played one after the other, the last one for all the rest. */
export interface Script {
  greeting?: Step;
  EHLO?: Step;
  HELO?: Step;
  STARTTLS?: Step;
  AUTH?: Step;
  MAIL?: Step | Step[];
  RCPT?: Step;
  DATA?: Step;
  /** While the message is coming in, after its first bytes. */
  during?: Step | Step[];
  /** The final dot. */
  dot?: Step;
  RSET?: Step;
  /** Differences for the mail to an address, from RCPT on. */
  to?: (address: string) => Pick<Script, "RCPT" | "DATA" | "during" | "dot">;
}

export interface ScriptedPeer {
  port: number;
  /** The commands, in order, of all connections. */
  commands: string[];
  /** Messages that came in whole. */
  messages: number;
  /** Number of messages that came in one piece, with their final dots. */
  pieces: number;
  /** Their recipients, in order. */
  recipients: string[];
  /** Number of connections that have met silence and are still open. */
  readonly silent: number;
  /** Cuts these connections. */
  cutSilent(): void;
  /** Cuts all connections; the next ones play their scripts as these are then. */
  cutAll(): void;
  close(): Promise<void>;
}

const DEFAULTS: Required<Omit<Script, "during" | "to">> = {
  greeting: { reply: "220 peer ESMTP" },
  EHLO: { reply: "250-peer\r\n250 8BITMIME" },
  HELO: { reply: "250 peer" },
  STARTTLS: { reply: "502 not here" },
  AUTH: { reply: "235 2.7.0 welcome" },
  MAIL: { reply: "250 2.1.0 ok" },
  RCPT: { reply: "250 2.1.5 ok" },
  DATA: { reply: "354 go on" },
  dot: { reply: "250 2.0.0 queued" },
  RSET: { reply: "250 2.0.0 reset" },
};

/** A peer that plays a script, byte by byte, for what no well-behaved server does. `scripts` are for the first, second, ... connection. */
export async function scriptedPeer(...scripts: readonly Script[]): Promise<ScriptedPeer> {
  const sockets = new Set<Socket>();
  const silent = new Set<Socket>();
  const peer: ScriptedPeer = {
    port: 0,
    commands: [],
    messages: 0,
    pieces: 0,
    recipients: [],
    get silent() {
      return silent.size;
    },
    cutSilent: () => {
      for (const socket of silent) socket.destroy();
    },
    cutAll: () => {
      for (const socket of sockets) socket.destroy();
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  let count = 0;
  const server = createServer((socket) => {
    const script: Script = { ...DEFAULTS, ...(scripts[Math.min(count, scripts.length - 1)] ?? {}) };
    count += 1;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      sockets.delete(socket);
      silent.delete(socket);
    });
    const play = (steps: Step | Step[] | undefined): void => {
      const step = Array.isArray(steps) ? (steps.length > 1 ? steps.shift() : steps[0]) : steps;
      if (step === undefined) return;
      if ("silence" in step) silent.add(socket);
      else if ("reset" in step) socket.resetAndDestroy();
      else if ("reply" in step && step.after) void step.after().then(() => play({ reply: step.reply }));
      else if ("reply" in step) socket.write(`${step.reply}\r\n`);
      else socket.end(step.hangUp);
    };
    let pending = "";
    let inData = false;
    let recipient = "";
    /** The script for the mail under way. */
    let own = script;
    play(script.greeting);
    socket.on("data", (chunk) => {
      pending += chunk.toString("latin1");
      for (;;) {
        if (inData) {
          if (own.during !== undefined && pending !== "") return play(own.during);
          const end = `\r\n${pending}`.indexOf("\r\n.\r\n");
          if (end < 0) return;
          pending = pending.slice(end + 3);
          inData = false;
          peer.messages += 1;
          if (chunk.length > end) peer.pieces += 1;
          peer.recipients.push(recipient);
          play(own.dot);
          continue;
        }
        const end = pending.indexOf("\r\n");
        if (end < 0) return;
        const command = pending.slice(0, end);
        pending = pending.slice(end + 2);
        peer.commands.push(command);
        const verb = command.slice(0, 4).toUpperCase();
        if (verb === "RCPT") {
          recipient = command.slice(command.indexOf("<") + 1, command.indexOf(">"));
          own = { ...script, ...script.to?.(recipient) };
        }
        if (verb === "QUIT") socket.end("221 bye\r\n");
        else play(verb === "STAR" ? own.STARTTLS : own[verb as keyof Omit<Script, "to">]);
        const answer = own.DATA;
        if (verb === "DATA" && answer !== undefined && "reply" in answer && answer.reply.startsWith("3")) inData = true;
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  peer.port = (server.address() as AddressInfo).port;
  return peer;
}
