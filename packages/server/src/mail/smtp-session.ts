import { isAscii as isAsciiBytes } from "node:buffer";
import type { Socket } from "node:net";
import type SMTPConnection from "nodemailer/lib/smtp-connection";
import type { Clock } from "../lib/clock.ts";
import { CHUNK_BYTES, waitForTurn } from "../lib/turn.ts";
import { SECOND } from "../lib/units.ts";
import type { Receipt } from "./mailer.ts";
import {
  deferred,
  eightBitRefused,
  failureReceipt,
  getAcceptedText,
  notWanted,
  type Phase,
  SmtpError,
  type SmtpFailure,
  utf8Refused,
} from "./smtp-reply.ts";
import { endOf, SmtpReplies, toWire } from "./smtp-wire.ts";

export interface Envelope {
  from: string;
  to: string;
  /** Asked before the first byte of the message is written: false if it is not to be sent any more. */
  isStillWanted?: (() => Promise<boolean>) | undefined;
  /** True if the message must not go to a server without SMTPUTF8 when its headers have characters beyond ASCII: those are in addresses. */
  needsUtf8?: boolean;
}

/** The result of one message on a session. */
interface Sent {
  receipt: Receipt;
  /** True if the session was dead before a byte of the message was written, so that it may be sent on another one. */
  stale: boolean;
  /** True if no command of this message was sent, so that the session needs no RSET. */
  untouched?: true;
}

/**
 * A connection of nodemailer, with what it knows of the server and does not publish. The tests of SIZE, 8BITMIME and SMTPUTF8 check that.
 */
export type SmtpConnection = SMTPConnection & {
  readonly _socket: Socket;
  readonly _supportedExtensions: readonly string[];
  /** Bytes; 0 if the server names no limit. */
  readonly _maxAllowedSize: number;
};

/** A command of the envelope: its name, and the line that is written. */
type Command = readonly [name: "MAIL FROM" | "RCPT TO" | "DATA", line: string];

/** The way of one message. */
interface Progress {
  /** The first refusal. Later failures change nothing. */
  refusal: SmtpError | null;
  /** True once the server has answered 354. */
  begun: boolean;
  phase: Phase;
}

// RFC 5321 4.5.3.2.6 gives a server ten minutes for its reply. The limit covers the whole message, because a peer that sends
// a byte now and then never reaches the socket timeout.
const MESSAGE_MS = 600 * SECOND;
const QUIT_MS = 2 * SECOND;
const CHUNK = 64 * 1024;

/**
 * A connection to the next hop after greeting, encryption and login. nodemailer's client goes on to watch for errors, silence and the end
 * of the connection; commands, messages and replies are ours.
 */
export class SmtpSession {
  readonly #connection: SmtpConnection;
  readonly #socket: Socket;
  readonly #time: Clock["real"];
  readonly #replies = new SmtpReplies();
  #messages = 0;
  /** True while a reply may come. */
  #busy = false;

  constructor(connection: SmtpConnection, time: Clock["real"]) {
    this.#connection = connection;
    this.#socket = connection._socket;
    this.#time = time;
    this.#socket.removeAllListeners("data").on("data", (bytes) => this.#read(bytes));
    connection.on("error", (failure: SmtpFailure) => this.#replies.fail(failure));
    connection.once("end", () => this.#replies.end());
  }

  /** False once the connection is closed, also by the server alone. */
  get alive(): boolean {
    return !this.#connection.destroyed && this.#socket.writable;
  }

  get messages(): number {
    return this.#messages;
  }

  /** Sends a message; only one at a time. */
  async send(envelope: Envelope, message: Buffer): Promise<Sent> {
    const commands = this.#plan(envelope, message);
    if ("outcome" in commands) return { receipt: commands, stale: false, untouched: true };
    const reused = this.#messages > 0;
    this.#messages += 1;
    const progress: Progress = { refusal: null, begun: false, phase: "message" };
    const deadline = this.#time.after(MESSAGE_MS, () =>
      this.abort(`The mail server took longer than ${MESSAGE_MS / SECOND} s for one message.`),
    );
    this.#busy = true;
    try {
      await this.#announce(commands, progress);
      return { receipt: await this.#transfer(envelope, message, progress), stale: false };
    } catch (error) {
      // After a refusal the server waits for the next command; after anything else nobody knows what it waits for.
      if (error !== progress.refusal) this.#connection.close();
      const failure = progress.refusal ?? (error as SmtpFailure);
      const lost = failure.code === "ECONNECTION" || failure.code === "ESOCKET" || failure.responseCode === 421;
      return { receipt: failureReceipt(failure, progress.phase), stale: reused && lost && !progress.begun };
    } finally {
      deadline.cancel();
      this.#busy = false;
      // 354 cannot be taken back, nor half a message: the server may read what follows as its rest.
      if (!this.#replies.isEmpty || (progress.begun && progress.phase === "message")) this.#connection.close();
    }
  }

  /** Resets the session for the next message; false if that fails. */
  async reset(): Promise<boolean> {
    const reply = await this.#ask("RSET").catch(() => "");
    return reply.startsWith("2");
  }

  /** Sends QUIT and waits until the server has answered, two seconds at most. */
  async quit(): Promise<void> {
    if (this.alive) {
      const late = this.#time.after(QUIT_MS, () => this.#connection.close());
      await this.#ask("QUIT").catch(() => {});
      late.cancel();
    }
    this.#connection.close();
  }

  /** Cuts the connection. A message under way ends with what is known about it. */
  abort(why: string): void {
    this.#replies.fail({ message: why });
    this.#connection.close();
  }

  #read(bytes: Buffer): void {
    if (this.#connection.destroyed) return;
    this.#replies.push(bytes);
    // Nothing was asked: the server goes away (421), or it is out of step.
    if (!this.#busy && !this.#replies.isEmpty) this.#connection.close();
  }

  async #ask(command: string): Promise<string> {
    this.#busy = true;
    this.#socket.write(`${command}\r\n`);
    try {
      return await this.#next();
    } finally {
      this.#busy = false;
      if (!this.#replies.isEmpty) this.#connection.close();
    }
  }

  async #next(): Promise<string> {
    const reply = await this.#replies.next();
    // RFC 5321 4.2: the server is about to close the connection, whatever it answers.
    if (reply.startsWith("421")) this.#connection.close();
    if (!/^[2-5]\d\d(?!\d)/.test(reply)) throw unexpected(reply);
    return reply;
  }

  /** The commands for a message, or the receipt of one that this server cannot take. */
  #plan({ from, to, needsUtf8 = false }: Envelope, message: Buffer): readonly Command[] | Receipt {
    const { _supportedExtensions: offers, _maxAllowedSize: maxBytes } = this.#connection;
    // Mail that we compose is 7-bit, but for a local part beyond ASCII in the headers. 30 MB take 3 ms.
    const is8Bit = !isAsciiBytes(message);
    const hasUtf8Envelope = !(isAscii(from) && isAscii(to));
    const hasUtf8Head = is8Bit && !isAsciiBytes(headOf(message));
    const takesUtf8 = offers.includes("SMTPUTF8");
    if (!takesUtf8 && (hasUtf8Envelope || (hasUtf8Head && needsUtf8))) return utf8Refused;
    if (is8Bit && !offers.includes("8BITMIME")) return eightBitRefused;
    const unfit = findUnfit(from, "MAIL FROM") ?? findUnfit(to, "RCPT TO");
    if (unfit) return failureReceipt(unfit, "message");
    if (maxBytes > 0 && message.length > maxBytes) {
      const why = `The mail server takes messages of ${maxBytes} bytes at most, and this one has ${message.length}.`;
      return failureReceipt(new SmtpError("EMESSAGE", why, { command: "MAIL FROM" }), "message");
    }
    const parameters = [
      ...(takesUtf8 && (hasUtf8Envelope || hasUtf8Head) ? [" SMTPUTF8"] : []),
      ...(is8Bit ? [" BODY=8BITMIME"] : []),
      ...(offers.includes("SIZE") ? [` SIZE=${message.length}`] : []),
    ].join("");
    return [
      ["MAIL FROM", `MAIL FROM:<${from}>${parameters}\r\n`],
      ["RCPT TO", `RCPT TO:<${to}>\r\n`],
      ["DATA", "DATA\r\n"],
    ];
  }

  /** Says whom a message is from and for, until the server waits for it (354). Rejects if it is refused, with all replies read. */
  async #announce(commands: readonly Command[], progress: Progress): Promise<void> {
    const together = this.#connection._supportedExtensions.includes("PIPELINING");
    if (together) this.#socket.write(commands.map(([, line]) => line).join(""));
    for (const [command, line] of commands) {
      if (!together) this.#socket.write(line);
      const response = await this.#next();
      if (isRefusal(response)) progress.refusal ??= new SmtpError("EENVELOPE", "Refused", { command, response });
      else if (!response.startsWith(command === "DATA" ? "3" : "2")) throw unexpected(response);
      else if (command === "DATA" && progress.refusal) {
        // The sender was refused, and the server would take a message to the recipient nevertheless.
        if (progress.refusal.command !== "RCPT TO") throw unexpected(response);
        this.#socket.write(".\r\n");
        await this.#next();
      }
      if (progress.refusal && !together) break;
    }
    if (progress.refusal) throw progress.refusal;
    progress.begun = true;
  }

  /** Writes a message, and reads what the server says to it, which may come too early. */
  async #transfer(envelope: Envelope, message: Buffer, progress: Progress): Promise<Receipt> {
    const answer = this.#next();
    const first = await Promise.race([answer, this.#write(envelope, message, progress)]);
    if (first === notWanted) return notWanted;
    const response = await answer;
    if (isRefusal(response)) {
      progress.refusal = new SmtpError("EMESSAGE", "Refused", { command: "DATA", response });
      throw progress.refusal;
    }
    if (!response.startsWith("2")) throw unexpected(response);
    if (progress.phase === "message") return deferred(`The mail server answered before the message was complete: ${response}`);
    return { outcome: "sent", response: getAcceptedText(response) };
  }

  /** Writes a message in pieces, a megabyte in a turn of the event loop, until a reply comes; nothing if it is not wanted any more. */
  async #write({ isStillWanted }: Envelope, message: Buffer, progress: Progress): Promise<typeof notWanted | undefined> {
    if (isStillWanted && !(await isStillWanted().catch(() => false))) return notWanted;
    for (let at = 0, end = 0; this.#replies.isAwaited; at = end) {
      if (!this.alive) throw new SmtpError("ECONNECTION", "Connection closed unexpectedly");
      end = Math.min(at + CHUNK, message.length);
      const piece = toWire(message, at, end);
      if (end === message.length) {
        // With the first byte of the last piece the message may have arrived.
        progress.phase = "answer";
        this.#socket.cork();
        this.#socket.write(piece);
        this.#socket.write(endOf(message));
        this.#socket.uncork();
        break;
      }
      if (!this.#socket.write(piece)) await new Promise((resume) => this.#socket.once("drain", resume));
      if (end % CHUNK_BYTES === 0) await waitForTurn();
    }
  }
}

function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

/** The headers of a message. */
function headOf(message: Buffer): Buffer {
  const end = message.indexOf("\r\n\r\n");
  return end === -1 ? message : message.subarray(0, end);
}

/** The failure of an address that cannot stand in a command, or null. */
function findUnfit(address: string, command: "MAIL FROM" | "RCPT TO"): SmtpError | null {
  return /[\r\n<>]/.test(address)
    ? new SmtpError("EENVELOPE", `The address ${JSON.stringify(address)} cannot stand in an SMTP command.`, { command })
    : null;
}

function isRefusal(reply: string): boolean {
  return /^[45]/.test(reply);
}

function unexpected(response: string): SmtpError {
  return new SmtpError("EPROTOCOL", "The mail server is out of step", { response });
}
