import type { Readable } from "node:stream";
import { RECEIVED_LIMITS } from "@mailsvc/sdk/contract";
import type { SMTPServerOptions, SMTPServerSession } from "smtp-server";
import { StorageUnavailable } from "../db/errors.ts";
import { isForbiddenAddress } from "../lib/guard-url.ts";
import { MB, MINUTE } from "../lib/units.ts";
import { Intake } from "../mail/intake.ts";
import { MAIL_LIMITS } from "../mail/mail-start.ts";
import { listenSmtp, reply, type SmtpListener } from "../mail/smtp-listener.ts";
import type { TlsFiles } from "../mail/tls-files.ts";
import { isQuotaReached } from "../received/received.ts";
import type { InboundDeps } from "./deps.ts";
import { findRecipient, type Recipient, receiveMail } from "./receive.ts";

/** The largest message to a return path: some servers return all of ours. Mailboxes take RECEIVED_LIMITS.message. */
const MAX_MESSAGE = 50 * MB;

/** The memory of all messages that are being received. */
const MAX_MEMORY = 128 * MB;

const MAX_CONNECTIONS = 100;
// Connections of one peer; a relay in front of this server opens no more either (Postfix: 20).
const MAX_OF_PEER = 20;
// Addresses in one connection that are not ours, before it is cut: a peer that tries addresses has to connect again and again.
const MAX_REFUSED = 20;
const MAX_COMMAND_BYTES = 2048;
// A mail to several of our addresses at once is rare.
const MAX_RECIPIENTS = 20;
const IDLE_MS = MINUTE;
// Longest time of a connection: one that sends a byte now and then is never idle (real time).
const CONNECTION_MS = 10 * MINUTE;
interface Listening {
  readonly host: string;
  readonly port: number;
  /** Files that STARTTLS is offered with; null or absent to offer none. */
  readonly tls?: TlsFiles | null;
  /** Longest time of a connection, ms; ten minutes when absent. */
  readonly connectionMs?: number;
}

/**
 * Accepts mail over SMTP, for nobody but the addresses that this installation has made and the inbound domains of workspaces: it relays
 * nothing and needs no login. A message is answered with 250 once it, or its effect, is durable. Throws the error of the operating system
 * if it cannot listen.
 */
export async function serveInboundSmtp(
  deps: InboundDeps,
  { host, port, tls = null, connectionMs = CONNECTION_MS }: Listening,
): Promise<SmtpListener> {
  const intake = new Intake(MAX_MEMORY);
  const accepted = new WeakMap<SMTPServerSession, Map<string, Recipient>>();
  const refused = new WeakMap<SMTPServerSession, number>();
  const options: SMTPServerOptions = {
    name: deps.config.inboundDomain ?? "localhost",
    banner: "mailsvc",
    authOptional: true,
    disabledCommands: ["AUTH"],
    size: MAX_MESSAGE,
    maxCommandLength: MAX_COMMAND_BYTES,
    socketTimeout: IDLE_MS,
    onMailFrom: (_from, session, done) => {
      accepted.set(session, new Map());
      done();
    },
    onRcptTo: ({ address }, session, done) => {
      admit(deps, address, { accepted, refused, session }).then(done, (error: unknown) => {
        logFailure(deps, "an address could not be looked up", error);
        done(reply(451, "4.3.0 Not processed, please try again later"));
      });
    },
    onData: (stream, session, done) => {
      const recipients = [...(accepted.get(session)?.values() ?? [])];
      accept(deps, intake, { stream, recipients, session }).then(done, (error: unknown) => {
        logFailure(deps, "a mail to the inbound domain was not processed", error);
        done(reply(451, "4.3.0 Not processed, please try again later"));
      });
    },
  };
  return listenSmtp(deps, options, {
    ...{ host, port, tls, connectionMs },
    ...{ connections: MAX_CONNECTIONS, ofPeer: MAX_OF_PEER, proxies: deps.config.proxyProtocol },
    purpose: "mail to the inbound domain",
  });
}

interface Sessions {
  /** The addresses of the current message. */
  readonly accepted: WeakMap<SMTPServerSession, Map<string, Recipient>>;
  /** Number of addresses that were refused on a connection. */
  readonly refused: WeakMap<SMTPServerSession, number>;
  readonly session: SMTPServerSession;
}

/** Takes an address of a message; null if mail for it is taken, else the reply that refuses it. */
async function admit(deps: InboundDeps, address: string, { accepted, refused, session }: Sessions): Promise<Error | null> {
  const recipient = await findRecipient(deps, address);
  if (recipient === null) {
    const times = (refused.get(session) ?? 0) + 1;
    refused.set(session, times);
    return times > MAX_REFUSED ? reply(421, "4.7.0 Too many unknown addresses") : reply(550, "5.1.1 No such address here");
  }
  if (deps.storage.lowDisk !== null) return reply(452, "4.3.1 Not enough disk space, please try again later");
  const announced = readSize(session);
  if ("mailbox" in recipient && announced > RECEIVED_LIMITS.message) return reply(552, "5.3.4 Message too large for this mailbox");
  if ("mailbox" in recipient && (await isQuotaReached(deps.db.read, deps, recipient.mailbox.workspaceId))) return overQuota();
  const known = accepted.get(session) ?? new Map<string, Recipient>();
  if (known.size >= MAX_RECIPIENTS) return reply(452, "4.5.3 Too many recipients");
  accepted.set(session, known.set(address.toLowerCase(), recipient));
  return null;
}

/** The size that MAIL announced; 0 without one. */
function readSize({ envelope: { mailFrom } }: SMTPServerSession): number {
  const given = mailFrom ? mailFrom.args : false;
  return given ? Number(given.SIZE ?? 0) : 0;
}

interface Message {
  readonly stream: Readable & { sizeExceeded?: boolean };
  readonly recipients: readonly Recipient[];
  readonly session: SMTPServerSession;
}

/** Takes a message; null if it is done with, else the reply that refuses it. */
async function accept(deps: InboundDeps, intake: Intake, { stream, recipients, session }: Message): Promise<Error | null> {
  const isStored = recipients.some((one) => "mailbox" in one);
  const { bytes: raw, size, release } = await intake.take(stream, isStored ? RECEIVED_LIMITS.message + 1 : MAIL_LIMITS.bytes);
  try {
    if (stream.sizeExceeded || (isStored && size > RECEIVED_LIMITS.message)) return reply(552, "5.3.4 Message too large");
    if (raw === null) return reply(452, "4.3.1 Too many messages at once, please try again later");
    const { envelope, remoteAddress, hostNameAppearsAs: helo } = session;
    const { networks, isGiven } = deps.config.inboundTrust;
    const isTrusted = networks.some((network) => network.has(remoteAddress));
    if (!isTrusted || !isGiven) deps.inboundPeers.count(remoteAddress);
    const ip = isTrusted ? null : remoteAddress;
    const envelopeFrom = envelope.mailFrom ? envelope.mailFrom.address : "";
    const result = await receiveMail(deps, { recipients, raw, envelopeFrom, peer: { ip, helo } });
    if (result === "over-quota") return overQuota();
    if (result === "expired") return reply(550, "5.7.1 This address no longer works, please use the unsubscribe link in the mail");
    if (result === "unreadable") return reply(554, "5.6.0 Message cannot be read");
    return result === "too-early" ? reply(451, "4.4.5 The message this is about is still being sent, please try again later") : null;
  } finally {
    release();
  }
}

function overQuota(): Error {
  return reply(452, "4.2.2 Mailbox has received too much mail today, please try again tomorrow");
}

function logFailure({ log, storage }: InboundDeps, what: string, error: unknown): void {
  if (error instanceof StorageUnavailable) storage.failed(error, { what });
  else log.error(what, { error: error instanceof Error ? error.message : String(error) });
}

// Messages that are looked back on.
const RECENT = 100;

/** Origins of the last mails over SMTP. If none came from the Internet, a gateway has put its address in place of each peer's. */
export class InboundPeers {
  readonly #arePrivate: boolean[] = [];

  /** Counts a mail by the address of its peer. */
  count(address: string): void {
    this.#arePrivate.push(isForbiddenAddress(address, { dev: false }));
    if (this.#arePrivate.length > RECENT) this.#arePrivate.shift();
  }

  /** Numbers of mails from public and from private addresses, among the last hundred. */
  get counts(): { readonly public: number; readonly private: number } {
    const ofNetwork = this.#arePrivate.filter(Boolean).length;
    return { public: this.#arePrivate.length - ofNetwork, private: ofNetwork };
  }
}
