import { isAscii as isAsciiBytes } from "node:buffer";
import { Readable, type Writable } from "node:stream";
import { TLSSocket } from "node:tls";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import type { Clock } from "../lib/clock.ts";
import { CHUNK_BYTES, waitForTurn, yieldToEventLoop } from "../lib/turn.ts";
import { SECOND } from "../lib/units.ts";
import type { Receipt } from "./mailer.ts";
import {
  deferred,
  eightBitRefused,
  failureReceipt,
  getAcceptedText,
  notWanted,
  type Phase,
  type SmtpFailure,
  utf8Refused,
} from "./smtp-reply.ts";
import type { SmtpTarget } from "./smtp-url.ts";
import { logInWithToken } from "./xoauth2.ts";

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

/** A connection to the next hop after greeting, encryption and login. */
export interface SmtpSession {
  /** False once the connection is closed. */
  readonly alive: boolean;
  readonly messages: number;
  /** Sends a message; only one at a time. */
  send(envelope: Envelope, message: Buffer): Promise<Sent>;
  /** Resets the session for the next message; false if that fails. */
  reset(): Promise<boolean>;
  /** Sends QUIT and waits until the connection is closed, two seconds at most. */
  quit(): Promise<void>;
  /** Cuts the connection. A message under way ends with what is known about it. */
  abort(why: string): void;
}

// Not in the published types. The pinned version has them, as the tests of SMTPUTF8, AUTH and of what is written together check.
type Connection = SMTPConnection & {
  readonly allowsAuth: boolean;
  readonly _supportedExtensions: readonly string[];
  readonly _socket: Writable;
  _sendCommand(command: string, ...rest: unknown[]): void;
};

const DEFAULTS = { connectMs: 15 * SECOND, greetingMs: 30 * SECOND, socketMs: 300 * SECOND } as const;
// RFC 5321 4.5.3.2.6 gives a server ten minutes for its reply. The limit covers the whole message, because a peer that sends
// a byte now and then never reaches the socket timeout.
const MESSAGE_MS = 600 * SECOND;
const QUIT_MS = 2 * SECOND;
const CHUNK = 64 * 1024;
// nodemailer has an XOAUTH2 of its own, which does not renew a token that is refused without a challenge.
const TOKEN_METHOD = "TOKEN";

/**
 * Connects, encrypts and logs in, unless that is cut. A failure is always `deferred`, because it says nothing about a recipient.
 * `greeted` is called before the login, with the version of TLS; null without encryption.
 */
export function openSession(
  target: SmtpTarget,
  time: Clock["real"],
  cut?: AbortSignal,
  greeted?: (tls: string | null) => void,
): Promise<SmtpSession | Receipt> {
  return new Promise((opened) => {
    const { auth } = target;
    const connection = new SMTPConnection({
      host: target.host,
      port: target.port,
      secure: target.implicitTls,
      ignoreTLS: target.tls === "off",
      requireTLS: target.tls === "required" && !target.implicitTls,
      opportunisticTLS: target.tls === "opportunistic",
      tls: { rejectUnauthorized: target.verify },
      name: target.name,
      connectionTimeout: target.connectMs ?? DEFAULTS.connectMs,
      dnsTimeout: target.connectMs ?? DEFAULTS.connectMs,
      greetingTimeout: target.greetingMs ?? DEFAULTS.greetingMs,
      socketTimeout: target.socketMs ?? DEFAULTS.socketMs,
      ...(auth !== null && "tokens" in auth && { customAuth: { [TOKEN_METHOD]: (context) => logInWithToken(context, auth) } }),
    }) as Connection;
    const resolve = (result: SmtpSession | Receipt): void => {
      cut?.removeEventListener("abort", abort);
      opened(result);
    };
    const fail = (failure: SmtpFailure): void => {
      resolve(failureReceipt(failure, "session"));
      connection.close();
    };
    const abort = (): void => fail({ message: "The mailer was closed." });
    if (cut?.aborted) return abort();
    cut?.addEventListener("abort", abort);
    // Stays for the life of the connection: an error on an idle connection only closes it, which `alive` tells.
    connection.on("error", fail);
    connection.once("end", () => resolve(deferred("The mail server closed the connection.")));
    connection.connect((error) => {
      if (error) return fail(error);
      greeted?.(connection._socket instanceof TLSSocket ? connection._socket.getProtocol() : null);
      if (auth === null) return resolve(createSession(connection, time));
      if (!connection.allowsAuth)
        return fail({ message: "The mail server does not offer to log in on this connection, but user and password are configured." });
      const login = "tokens" in auth ? { method: TOKEN_METHOD, user: auth.user } : { credentials: auth };
      connection.login(login, (refused) => (refused ? fail(refused) : resolve(createSession(connection, time))));
    });
  });
}

function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

/** Adds SMTPUTF8 to the next MAIL command: nodemailer adds it for addresses of the envelope only, and headers need it as well (RFC 6531 3.1). */
function announceUtf8(connection: Connection): void {
  const { _sendCommand: sendCommand } = connection;
  connection._sendCommand = (command, ...rest) => {
    connection._sendCommand = sendCommand;
    sendCommand.call(connection, command.startsWith("MAIL FROM:") ? `${command} SMTPUTF8` : command, ...rest);
  };
}

/** The headers of a message. */
function headOf(message: Buffer): Buffer {
  const end = message.indexOf("\r\n\r\n");
  return end === -1 ? message : message.subarray(0, end);
}

/** What is written in this turn of the event loop leaves in one segment: a small message and its final dot. */
function writeTogether(socket: Writable): void {
  socket.cork();
  void yieldToEventLoop().then(() => socket.uncork());
}

/** A message in pieces, a megabyte of them in one turn of the event loop. `begin` is asked before the first one: false if there is to be none. */
function toStream(message: Buffer, begin: () => Promise<boolean>): Readable {
  let at = 0;
  const pushNext = (stream: Readable): void => {
    stream.push(message.subarray(at, at + CHUNK));
    at += CHUNK;
    if (at >= message.length) stream.push(null);
  };
  return new Readable({
    read() {
      // nodemailer looks at each byte: with a quick mail server, four messages of 5 MB at once took 60 ms.
      if (at === 0)
        void begin().then((begins) => {
          if (begins && !this.destroyed) pushNext(this);
        });
      else if (at % CHUNK_BYTES !== 0) pushNext(this);
      else
        void waitForTurn().then(() => {
          if (!this.destroyed) pushNext(this);
        });
    },
  });
}

function reset(connection: Connection): Promise<boolean> {
  return new Promise((resolve) => {
    if (connection.destroyed) return resolve(false);
    // There is no reply if the connection ends first.
    const ended = (): void => resolve(false);
    connection.once("end", ended);
    connection.reset((error) => {
      connection.off("end", ended);
      resolve(!error);
    });
  });
}

function createSession(connection: Connection, time: Clock["real"]): SmtpSession {
  let messages = 0;
  let cut = (_why: string): void => {};

  const send = (envelope: Envelope, message: Buffer): Promise<Sent> =>
    new Promise((resolve) => {
      const offers = connection._supportedExtensions;
      // What we compose is 7-bit, but for a local part beyond ASCII in the headers. 30 MB take 3 ms.
      const use8BitMime = !isAsciiBytes(message);
      const hasUtf8Envelope = !(isAscii(envelope.from) && isAscii(envelope.to));
      const hasUtf8Head = use8BitMime && !isAsciiBytes(headOf(message));
      const takesUtf8 = offers.includes("SMTPUTF8");
      if (!takesUtf8 && (hasUtf8Envelope || (hasUtf8Head && envelope.needsUtf8 === true))) {
        resolve({ receipt: utf8Refused, stale: false, untouched: true });
        return;
      }
      if (use8BitMime && !offers.includes("8BITMIME")) {
        resolve({ receipt: eightBitRefused, stale: false, untouched: true });
        return;
      }
      const reused = messages > 0;
      messages += 1;
      // nodemailer does not tell whether the final dot is written. It writes it when this stream ends, and reads from it only
      // after a 354 reply. So once `end` has fired, the message may have arrived.
      let settled = false;
      const source = toStream(message, async () => {
        if (envelope.isStillWanted && !(await envelope.isStillWanted().catch(() => false))) {
          // There is no other way back: after 354 the server takes whatever follows for the message.
          settle(notWanted, false);
          return false;
        }
        // The mail server has refused the message meanwhile: it would read what is written now as commands.
        if (settled) return false;
        writeTogether(connection._socket);
        return true;
      });
      let phase: Phase = "message";
      source.once("end", () => {
        phase = "answer";
      });
      const settle = (receipt: Receipt, stale: boolean): void => {
        if (settled) return;
        settled = true;
        deadline.cancel();
        cut = () => {};
        // Once nodemailer reads, 354 has come. That cannot be taken back, nor half a message: the server may read what follows as its rest.
        if (phase === "message" && source.readableFlowing !== null) {
          source.destroy();
          connection.close();
        }
        resolve({ receipt, stale });
      };
      const fail = (failure: SmtpFailure): void => {
        const lost = failure.code === "ECONNECTION" || failure.code === "ESOCKET" || failure.responseCode === 421;
        settle(failureReceipt(failure, phase), reused && lost && !source.readableDidRead);
      };
      cut = (why) => {
        fail({ message: why });
        connection.close();
      };
      const deadline = time.after(MESSAGE_MS, () => cut(`The mail server took longer than ${MESSAGE_MS / SECOND} s for one message.`));
      if (takesUtf8 && hasUtf8Head && !hasUtf8Envelope) announceUtf8(connection);
      const options = { from: envelope.from, to: [envelope.to], size: message.length, use8BitMime };
      connection.send(options, source, (error, info) => {
        if (error) fail(error);
        else if (phase === "message") settle(deferred(`The mail server answered before the message was complete: ${info.response}`), false);
        else settle({ outcome: "sent", response: getAcceptedText(info.response) }, false);
      });
    });

  return {
    get alive() {
      return !connection.destroyed;
    },
    get messages() {
      return messages;
    },
    send,
    reset: () => reset(connection),
    quit: () =>
      new Promise((resolve) => {
        if (connection.destroyed) return resolve();
        const late = time.after(QUIT_MS, () => connection.close());
        connection.once("end", () => {
          late.cancel();
          resolve();
        });
        connection.quit();
      }),
    abort: (why) => {
      cut(why);
      connection.close();
    },
  };
}
