import { promises as dns } from "node:dns";
import type { LookupFunction, Socket } from "node:net";
import type { buildConnector } from "undici";
import { type Guard, isAllowedHost, isForbiddenAddress, isOwnServer } from "../lib/guard-url.ts";
import { BlockedAddress } from "./attempt.ts";

export interface Address {
  readonly address: string;
  readonly family: number;
}

/** All addresses of a host name. Throws when there is none. */
export type Lookup = (host: string) => Promise<readonly Address[]>;

/** This machine, whatever its resolver says; the guard decides whether it may be called. */
const LOCALHOST: readonly Address[] = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];

/**
 * Queries the name servers directly. The resolver of the operating system works in four threads, which the file system and the
 * encryption use as well: a few names that hang would hold up everything.
 */
export function systemLookup(): Lookup {
  const resolver = new dns.Resolver({ timeout: 2000, tries: 2 });
  return async (host) => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const found = [
      ...(v4.status === "fulfilled" ? v4.value.map((address) => ({ address, family: 4 })) : []),
      ...(v6.status === "fulfilled" ? v6.value.map((address) => ({ address, family: 6 })) : []),
    ];
    if (found.length === 0 && v4.status === "rejected") throw v4.reason;
    return found;
  };
}

/** The addresses of a host of one's own network, whose name may stand in the hosts file of this machine only. */
function lookUpLocally(host: string): Promise<readonly Address[]> {
  return dns.lookup(host, { all: true });
}

/** A lookup for sockets. A name is refused if any of its addresses is forbidden. */
export function guardedLookup(lookup: Lookup, guard: Guard): LookupFunction {
  const query = deduplicate(lookup);
  return (host, options, callback) => {
    void (async () => {
      try {
        const isAllowed = isAllowedHost(host, guard);
        const found = await (isAllowed ? lookUpLocally(host) : /(?:^|\.)localhost\.?$/i.test(host) ? LOCALHOST : query(host));
        const [first] = found;
        if (!first) throw Object.assign(new Error("no address"), { code: "ENOTFOUND" });
        if (!isAllowed && found.some(({ address }) => isForbiddenAddress(address, guard)))
          throw new BlockedAddress("The address is not on the public Internet");
        if (options.all) callback(null, [...found]);
        else callback(null, first.address, first.family);
      } catch (error) {
        callback(error as NodeJS.ErrnoException, "", 0);
      }
    })();
  };
}

/**
 * Opens connections to webhooks only: the addresses of a name are checked, and so is the peer that was reached, whatever was
 * resolved. Certificates are verified, whatever the environment says; there is no proxy.
 */
export function guardedConnector(build: typeof buildConnector, lookup: Lookup, guard: Guard, timeout: number): buildConnector.connector {
  const connect = build({
    timeout,
    allowH2: false,
    rejectUnauthorized: true,
    minVersion: "TLSv1.2",
    // A resumed session is not verified against the name again: one that began with the wrong name must not be resumed.
    maxCachedSessions: 0,
    autoSelectFamily: true,
    lookup: guardedLookup(lookup, guard),
  } as buildConnector.BuildOptions);
  return (options, callback) =>
    connect(options, (error, socket) => {
      if (error) return callback(error, null);
      if (!socket) return callback(new Error("No connection."), null);
      const refused = checkPeer(socket, options.hostname, guard);
      if (refused === null) return callback(null, socket);
      socket.on("error", () => {}).destroy();
      callback(refused, null);
    });
}

/** Returns the reason a peer must not be talked to; null if it may be. */
function checkPeer({ remoteAddress: address, remotePort: port }: Socket, host: string, guard: Guard): Error | null {
  // A connection that is reset as soon as it is made has no peer any more.
  if (address === undefined) return Object.assign(new Error("The connection is gone."), { code: "ECONNRESET" });
  if (!isAllowedHost(host, guard) && isForbiddenAddress(address, guard))
    return new BlockedAddress("The address is not on the public Internet");
  return isOwnServer(address, port, guard) ? new BlockedAddress("The address is this server itself") : null;
}

/** Makes one query at a time for each name: connections that are opened at once share its answer. */
function deduplicate(lookup: Lookup): Lookup {
  const pending = new Map<string, Promise<readonly Address[]>>();
  return (host) => {
    let answer = pending.get(host);
    if (!answer) {
      answer = lookup(host).finally(() => pending.delete(host));
      pending.set(host, answer);
    }
    return answer;
  };
}
