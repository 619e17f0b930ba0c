import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { Readable } from "node:stream";
import type { SMTPServerOptions, SMTPServerSession } from "smtp-server";
import type { Timer } from "../lib/clock.ts";
import { MB } from "../lib/units.ts";
import type { InboundDeps } from "./deps.ts";
import type { MailParser } from "./mail-parser.ts";
import { MAIL_LIMITS } from "./mail-start.ts";
import { receiveMail } from "./receive.ts";
import type { InboundAddress } from "./return-path.ts";
import type { TlsFiles, TlsPair } from "./tls-files.ts";

/** The largest message: some servers return all of ours. */
const MAX_MESSAGE = 50 * MB;

const MAX_CONNECTIONS = 100;
// Connections of one peer; a relay in front of this server opens no more either (Postfix: 20).
const MAX_OF_PEER = 20;
// Addresses in one connection that are not ours, before it is cut: a peer that tries addresses has to connect again and again.
const MAX_REFUSED = 20;
const MAX_COMMAND_BYTES = 2048;
// A mail to several of our addresses at once is rare.
const MAX_RECIPIENTS = 20;
const IDLE_MS = 60_000;
const CLOSE_MS = 5_000;
// How long a connection lasts at most: one that sends a byte now and then is never idle (real time).
const CONNECTION_MS = 10 * 60_000;
// Renewed certificates are taken up within this time (real time).
const RENEW_MS = 3_600_000;

export interface InboundServer {
  readonly host: string;
  readonly port: number;
  /** Lets messages under way finish for some seconds. */
  close(): Promise<void>;
}

export interface Listening {
  readonly host: string;
  readonly port: number;
  /** What STARTTLS is offered with; null or absent to offer none. */
  readonly tls?: TlsFiles | null;
  /** How long a connection lasts at most, ms; ten minutes when absent. */
  readonly connectionMs?: number;
}

/**
 * Accepts mail for the inbound domain over SMTP, for nobody but the addresses that this installation has made: it relays
 * nothing, needs no login and stores no mail. A message is answered with 250 once what it says is durable. Throws the
 * error of the operating system if it cannot listen.
 */
export async function serveInboundSmtp(
  deps: InboundDeps,
  { host, port, tls = null, connectionMs = CONNECTION_MS }: Listening,
): Promise<InboundServer> {
  // Loaded only where mail is received.
  const [{ SMTPServer }, { MailParser }] = await Promise.all([import("smtp-server"), import("./mail-parser.ts")]);
  const parser = new MailParser(deps.clock.real);
  const accepted = new WeakMap<SMTPServerSession, Map<string, InboundAddress>>();
  const refused = new WeakMap<SMTPServerSession, number>();
  const peers = new Map<string, number>();
  const options: SMTPServerOptions = {
    name: deps.config.inboundDomain ?? "localhost",
    banner: "mailsvc",
    authOptional: true,
    // Without a certificate of the operator; a mail server in front of this one can have it.
    disabledCommands: tls === null ? ["AUTH", "STARTTLS"] : ["AUTH"],
    ...tls?.current,
    disableReverseLookup: true,
    size: MAX_MESSAGE,
    maxCommandLength: MAX_COMMAND_BYTES,
    maxClients: MAX_CONNECTIONS,
    socketTimeout: IDLE_MS,
    closeTimeout: CLOSE_MS,
    onConnect: ({ remoteAddress }, done) =>
      done((peers.get(remoteAddress) ?? 0) > MAX_OF_PEER ? reply(421, "4.7.0 Too many connections from your address") : null),
    onMailFrom: (_from, session, done) => {
      accepted.set(session, new Map());
      done();
    },
    onRcptTo: ({ address }, session, done) => {
      const known = accepted.get(session) ?? new Map<string, InboundAddress>();
      const parsed = deps.returnPath.parse(address);
      if (parsed === null) {
        const times = (refused.get(session) ?? 0) + 1;
        refused.set(session, times);
        return done(times > MAX_REFUSED ? reply(421, "4.7.0 Too many unknown addresses") : reply(550, "5.1.1 No such address here"));
      }
      if (known.size >= MAX_RECIPIENTS) return done(reply(452, "4.5.3 Too many recipients"));
      known.set(address.toLowerCase(), parsed);
      accepted.set(session, known);
      done();
    },
    onData: (stream, session, done) => {
      const addresses = [...(accepted.get(session)?.values() ?? [])];
      accept(deps, parser, { stream, addresses }).then(
        (error) => done(error),
        (error: unknown) => {
          deps.log.error("a mail to the inbound domain was not processed", {
            error: error instanceof Error ? error.message : String(error),
          });
          done(reply(451, "4.3.0 Not processed, please try again later"));
        },
      );
    },
  };
  const server = new SMTPServer(options);
  server.server.on("connection", (socket) => {
    const peer = socket.remoteAddress ?? "";
    peers.set(peer, (peers.get(peer) ?? 0) + 1);
    const deadline = deps.clock.real.after(connectionMs, () => void socket.destroy());
    socket.on("close", () => {
      deadline.cancel();
      const left = (peers.get(peer) ?? 1) - 1;
      if (left > 0) peers.set(peer, left);
      else peers.delete(peer);
    });
  });
  const listening = once(server.server, "listening");
  // Peers cut their connections as they like.
  server.on("error", () => {});
  const failed = once(server.server, "error").then(([error]) => Promise.reject(error as Error));
  server.listen(port, host);
  await Promise.race([listening, failed]);
  failed.catch(() => {});
  let renewal: Timer | null = null;
  const scheduleRenewal = (files: TlsFiles): void => {
    renewal = deps.clock.real.after(RENEW_MS, () => {
      renew(deps, files, (pair) => server.updateSecureContext(pair));
      scheduleRenewal(files);
    });
  };
  if (tls !== null) scheduleRenewal(tls);
  const bound = server.server.address() as AddressInfo;
  return {
    host: bound.address,
    port: bound.port,
    close: async () => {
      renewal?.cancel();
      await new Promise<void>((closed) => server.close(() => closed()));
      await parser.close();
    },
  };
}

/** Takes up a renewed certificate. One that cannot be used leaves the old one in place. */
export function renew({ log }: Pick<InboundDeps, "log">, files: TlsFiles, use: (pair: TlsPair) => void): void {
  try {
    const pair = files.renew();
    if (pair === null) return;
    use(pair);
    log.info("took up the renewed certificate for mail to the inbound domain", {});
  } catch (error) {
    log.error("cannot take up the certificate for mail to the inbound domain", { error: (error as Error).message });
  }
}

/** Takes a message; null if it is done with, else the reply that refuses it. */
async function accept(
  deps: InboundDeps,
  parser: MailParser,
  { stream, addresses }: { stream: Readable & { sizeExceeded?: boolean }; addresses: readonly InboundAddress[] },
): Promise<Error | null> {
  const raw = await readStart(stream);
  if (stream.sizeExceeded) return reply(552, "5.3.4 Message too large");
  const result = await receiveMail(deps, parser, { addresses, raw });
  if (result === "unreadable") return reply(554, "5.6.0 Message cannot be read");
  return result === "too-early" ? reply(451, "4.4.5 The message this is about is still being sent, please try again later") : null;
}

/** The first bytes of a message; the rest is read and dropped. */
async function readStart(stream: Readable): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (size < MAIL_LIMITS.bytes) chunks.push(chunk.subarray(0, MAIL_LIMITS.bytes - size));
    size += chunk.length;
  }
  return Buffer.concat(chunks);
}

function reply(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}
