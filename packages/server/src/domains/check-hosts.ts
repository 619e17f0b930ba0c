import type { DomainFinding } from "@mailsvc/sdk/contract";
import { ASK_AGAIN, finding, findProvider, GIVE_IP, type Subject } from "./subject.ts";

const MAX_ADDRESSES = 4;

/** Checks that the addresses which mail leaves from have names, and that these lead back. */
export async function checkNames({ relay, addresses, lookups }: Subject): Promise<DomainFinding[]> {
  const provider = relay && findProvider(relay.host);
  if (provider) return [finding("ptr", "skipped", `${provider.name} looks after the names of its addresses.`)];
  if (addresses.length === 0)
    return [finding("ptr", "skipped", "The public address that mail leaves from is not known here.", { hint: GIVE_IP })];
  return Promise.all(addresses.slice(0, MAX_ADDRESSES).map((address) => checkName(lookups, address, relay?.host ?? null)));
}

async function checkName(lookups: Subject["lookups"], address: string, host: string | null): Promise<DomainFinding> {
  const { records: names, fault } = await lookups.names(address);
  if (fault !== null) return finding("ptr", "warn", fault, { hint: ASK_AGAIN });
  const [name] = names;
  if (name === undefined)
    return finding("ptr", "fail", `${address} has no name. Many receivers refuse mail from such addresses.`, {
      record: { type: "PTR", name: address, value: host ?? "mail.example.com" },
      hint: "Whoever gave you the address sets this: your hoster or provider.",
    });
  const answers = await Promise.all(names.slice(0, MAX_ADDRESSES).map((one) => lookups.addresses(one)));
  if (answers.some(({ records }) => records.includes(address)))
    return finding("ptr", "ok", `${address} is called ${name}, and that name leads back.`);
  return finding("ptr", "fail", `${address} is called ${name}, but that name does not lead back to it.`, {
    hint: `Give ${name} the address ${address}.`,
  });
}

/** A domain whose mail comes to this server. */
export interface InboundMx {
  readonly domain: string;
  /** The name that its MX should have; null where any will do that leads here. */
  readonly host: string | null;
}

/** Checks that mail to the domain arrives: at this server if it receives its mail, else anywhere. */
export async function checkMx({ domain, lookups }: Subject, inbound: InboundMx | null): Promise<DomainFinding> {
  const name = inbound?.domain ?? domain;
  const record = inbound?.host ? { type: "MX" as const, name, value: `10 ${inbound.host}` } : null;
  const { records, fault } = await lookups.mx(name);
  if (fault !== null) return finding("mx", "warn", fault, { hint: ASK_AGAIN });
  const hosts = records.map(({ exchange }) => exchange.toLowerCase().replace(/\.$/, "")).filter(Boolean);
  if (hosts.length === 0) {
    if (inbound)
      return finding("mx", "fail", `${name} has no MX record, so its mail does not come here.`, { record, hint: "Publish the record." });
    const hasAddress = records.length === 0 && (await lookups.addresses(name)).records.length > 0;
    return hasAddress
      ? finding("mx", "ok", `${name} has no MX record; mail to it goes to its address.`)
      : finding("mx", "warn", `${name} takes no mail, so nobody can answer, and some receivers refuse mail from it.`, {
          hint: "Give it an MX record, or send with a Reply-To address of another domain.",
        });
  }
  if (inbound?.host && !hosts.includes(inbound.host)) {
    const [here, there] = await Promise.all([inbound.host, ...hosts.slice(0, 1)].map((host) => lookups.addresses(host)));
    if (!here?.records.some((address) => there?.records.includes(address)))
      return finding("mx", "fail", `The mail of ${name} goes to ${hosts.slice(0, 3).join(", ")}, not to this server.`, {
        record,
        hint: "Publish the record.",
      });
  }
  const answers = await Promise.all(hosts.slice(0, 3).map((host) => lookups.addresses(host)));
  if (answers.every(({ records: found, fault: failed }) => found.length === 0 && failed === null))
    return finding("mx", "fail", `The MX record of ${name} names ${hosts.slice(0, 3).join(", ")}, which has no address.`, {
      hint: "Give that name an address.",
    });
  return finding("mx", "ok", `Mail to ${name} goes to ${hosts.slice(0, 3).join(", ")}.`);
}
