import { Resolver } from "node:dns/promises";
import { SECOND } from "./units.ts";

/** A mail server of a domain; the lowest priority first. */
export interface MailExchange {
  readonly priority: number;
  /** Its name; empty, or a dot, says that the domain takes no mail (RFC 7505). */
  readonly exchange: string;
}

/** The port to the domain name system. Each answer is empty if there is no such record; each throws if no name server answers. */
export interface DomainRecords {
  /** The TXT records of a name, each joined to one text. */
  txt(name: string): Promise<string[]>;
  mx(name: string): Promise<MailExchange[]>;
  /** The IPv4 and IPv6 addresses of a name. */
  addresses(name: string): Promise<string[]>;
  /** The names of an address, by its PTR records. */
  names(address: string): Promise<string[]>;
}

/** A domain name system without any record. */
export const noRecords: DomainRecords = {
  txt: async () => [],
  mx: async () => [],
  addresses: async () => [],
  names: async () => [],
};

const TIMEOUT_MS = 2 * SECOND;
const TRIES = 2;

/** The system's resolver. */
export function systemDns(): DomainRecords {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  return {
    txt: async (name) => (await orNone(resolver.resolveTxt(name))).map((chunks) => chunks.join("")),
    mx: (name) => orNone(resolver.resolveMx(name)),
    addresses: async (name) => (await Promise.all([orNone(resolver.resolve4(name)), orNone(resolver.resolve6(name))])).flat(),
    names: (address) => orNone(resolver.reverse(address)),
  };
}

async function orNone<T>(answer: Promise<T[]>): Promise<T[]> {
  try {
    return await answer;
  } catch (error) {
    if (["ENOTFOUND", "ENODATA"].includes((error as { code?: string }).code ?? "")) return [];
    throw error;
  }
}
