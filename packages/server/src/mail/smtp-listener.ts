import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { SMTPServerOptions } from "smtp-server";
import type { Clock, Timer } from "../lib/clock.ts";
import type { IpNetwork } from "../lib/ip-network.ts";
import type { Log } from "../lib/log.ts";
import { SECOND } from "../lib/units.ts";
import type { OnStep, PromptServer } from "./prompt-server.ts";
import { takeProxyHeader } from "./proxy-header.ts";
import type { TlsFiles, TlsPair } from "./tls-files.ts";

// Time for messages under way to finish when the server stops.
const CLOSE_MS = 5 * SECOND;
// Renewed certificates are taken up within this time (real time).
const RENEW_MS = 3600 * SECOND;

/** Address and limits of an SMTP server. */
export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  /** Certificate for STARTTLS or `implicitTls`; null for no TLS. */
  readonly tls: TlsFiles | null;
  /** True if a connection begins with TLS. */
  readonly implicitTls?: boolean;
  /**
   * Maximum duration of a connection, ms of real time. A client that sends a byte now and then is never idle, so an idle limit is
   * not enough.
   */
  readonly connectionMs: number;
  readonly connections: number;
  /** Connections of one address. */
  readonly ofPeer: number;
  /** The networks of proxies that say with the PROXY protocol who connects; no other peer may say so. */
  readonly proxies: readonly IpNetwork[];
  /** Purpose of the connections, for the log. */
  readonly purpose: string;
}

export interface SmtpListener {
  readonly host: string;
  readonly port: number;
  /** True if the next connection is refused because there are too many. */
  isFull(): boolean;
  /** Ends a connection with a 421 reply. */
  cut(sessionId: string, why: string): void;
  /** Ends a connection without a reply. */
  drop(sessionId: string): void;
  /** Lets messages under way finish for some seconds. */
  close(): Promise<void>;
}

interface ListenerDeps {
  readonly clock: { readonly real: Clock["real"] };
  readonly log: Log;
}

/** Dialogue of an SMTP server. */
export interface SmtpDialogue extends SMTPServerOptions {
  /** Asked before EHLO, HELO and DATA are answered; an error refuses them. */
  readonly onStep?: OnStep;
}

/** A reply that refuses a command or a message: `reply(550, "5.1.1 No such address here")`. */
export function reply(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

/** The line of a reply that `reply` made. */
export function formatReply(made: Error & { readonly responseCode?: number }): string {
  return `${made.responseCode ?? 550} ${made.message}`;
}

/**
 * Listens for SMTP with limits for connections, in all and of one address, and takes up renewed certificates. smtp-server is loaded with
 * the first connection, because it takes a tenth of a start. Throws the error of the operating system if it cannot listen.
 */
export async function listenSmtp(deps: ListenerDeps, dialogue: SmtpDialogue, options: ListenerOptions): Promise<SmtpListener> {
  const { clock, log } = deps;
  const { host, port, tls, connectionMs, connections, ofPeer, proxies, purpose } = options;
  const open = new OpenConnections(clock.real, connectionMs);
  let loading: Promise<PromptServer> | null = null;
  const load = async (): Promise<PromptServer> => {
    const { PromptServer } = await import("./prompt-server.ts");
    return new PromptServer(buildOptions(dialogue, options), (connection) => open.remove(connection), dialogue.onStep);
  };
  const accept = async (socket: Socket): Promise<void> => {
    loading ??= load();
    const smtp = await loading;
    if (!socket.destroyed) smtp.server.emit("connection", socket);
  };
  const admit = (socket: Socket): void => {
    if (open.add(socket) > ofPeer || open.size > connections) {
      socket.end("421 4.7.0 Too many connections, please try again later\r\n", () => socket.destroy());
      return;
    }
    accept(socket).catch(() => void socket.destroy());
  };
  // Connections of proxies that have not said yet who connects.
  const unnamed = new Set<Socket>();
  const server = createServer((socket) => {
    // Peers cut their connections as they like.
    socket.on("error", () => {});
    const { remoteAddress = "" } = socket;
    if (!proxies.some((proxy) => proxy.has(remoteAddress))) {
      admit(socket);
      return;
    }
    if (unnamed.size + open.size >= connections) {
      socket.destroy();
      return;
    }
    unnamed.add(socket);
    void takeProxyHeader(socket, clock.real).then((taken) => {
      unnamed.delete(socket);
      if (taken && !socket.destroyed) {
        admit(socket);
        return;
      }
      log.warn("a proxy connected without a valid header of the PROXY protocol", { purpose });
      socket.destroy();
    });
  });
  await listen(server, host, port);
  const renewal = tls && renewHourly(deps, tls, purpose, (pair) => void loading?.then((smtp) => smtp.updateSecureContext(pair)));
  const bound = server.address() as AddressInfo;
  return {
    host: bound.address,
    port: bound.port,
    isFull: () => open.size >= connections,
    cut: (sessionId, why) => void loading?.then((smtp) => smtp.cut(sessionId, why)),
    drop: (sessionId) => void loading?.then((smtp) => smtp.drop(sessionId)),
    close: async () => {
      renewal?.cancel();
      const closed = once(server, "close");
      server.close();
      for (const socket of unnamed) socket.destroy();
      (await loading)?.cutIdle("4.3.2 The server is stopping");
      const late = clock.real.after(CLOSE_MS, () => open.cutAll());
      await closed;
      late.cancel();
    },
  };
}

/** Takes up a renewed certificate. One that cannot be used leaves the old one in place. */
export function renew({ log }: Pick<ListenerDeps, "log">, files: TlsFiles, purpose: string, use: (pair: TlsPair) => void): void {
  try {
    const pair = files.renew();
    if (pair === null) return;
    use(pair);
    log.info(`took up the renewed certificate for ${purpose}`, {});
  } catch (error) {
    log.error(`cannot take up the certificate for ${purpose}`, { error: (error as Error).message });
  }
}

function renewHourly(deps: ListenerDeps, files: TlsFiles, purpose: string, use: (pair: TlsPair) => void): Timer {
  let timer: Timer;
  const schedule = (): void => {
    timer = deps.clock.real.after(RENEW_MS, () => {
      renew(deps, files, purpose, use);
      schedule();
    });
  };
  schedule();
  return { cancel: () => timer.cancel() };
}

function buildOptions({ onStep: _, ...dialogue }: SmtpDialogue, { tls, implicitTls = false }: ListenerOptions): SMTPServerOptions {
  return {
    ...dialogue,
    ...tls?.current,
    secure: implicitTls,
    // Without a certificate of the operator; a mail server in front of this one can have it.
    disabledCommands: [...(dialogue.disabledCommands ?? []), ...(tls === null ? ["STARTTLS"] : [])],
    disableReverseLookup: true,
    logger: false,
  };
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  const listening = once(server, "listening");
  const failed = once(server, "error").then(([error]) => Promise.reject(error as Error));
  server.listen(port, host);
  await Promise.race([listening, failed]);
  failed.catch(() => {});
}

/** Other side of a connection: address and port. */
interface Peer {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
}

interface Open {
  readonly socket: Socket;
  readonly deadline: Timer;
}

/** The open connections of a server, counted by the address of the other side. Each is cut when it has lasted too long. */
class OpenConnections {
  readonly #real: Clock["real"];
  readonly #maxMs: number;
  /** Connections by address, then by port. */
  readonly #peers = new Map<string, Map<number, Open>>();
  #size = 0;

  constructor(real: Clock["real"], maxMs: number) {
    this.#real = real;
    this.#maxMs = maxMs;
  }

  get size(): number {
    return this.#size;
  }

  /** Adds a connection, and returns how many its address has now. */
  add(socket: Socket): number {
    const { remotePort = 0 } = socket;
    const address = toAddress(socket);
    const ofPeer = this.#peers.get(address) ?? new Map<number, Open>();
    const peer: Peer = { remoteAddress: address, remotePort };
    const deadline = this.#real.after(this.#maxMs, () => {
      socket.destroy();
      this.remove(peer);
    });
    this.#peers.set(address, ofPeer.set(remotePort, { socket, deadline }));
    this.#size += 1;
    // STARTTLS takes the listeners off the socket; then the connection tells its end itself.
    socket.on("close", () => this.remove(peer));
    return ofPeer.size;
  }

  /** Forgets a connection that has ended; a second time it does nothing. */
  remove(peer: Peer): void {
    const { remotePort = 0 } = peer;
    const address = toAddress(peer);
    const ofPeer = this.#peers.get(address);
    const open = ofPeer?.get(remotePort);
    if (!ofPeer || !open) return;
    open.deadline.cancel();
    ofPeer.delete(remotePort);
    if (ofPeer.size === 0) this.#peers.delete(address);
    this.#size -= 1;
  }

  cutAll(): void {
    for (const ofPeer of this.#peers.values()) for (const { socket } of ofPeer.values()) socket.destroy();
  }
}

/** IPv4 as such, also on a socket for both. */
function toAddress({ remoteAddress = "" }: Peer): string {
  return remoteAddress.replace(/^::ffff:(?=\d+\.)/i, "").toLowerCase();
}
