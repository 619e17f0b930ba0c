import { type DomainCheck, type DomainFinding, parseAddress } from "@mailsvc/sdk/contract";
import type { Reader } from "../db/db.ts";
import { iso } from "../lib/clock.ts";
import type { DomainRecords } from "../lib/domain-records.ts";
import { findInboundDomain } from "../received/received.ts";
import type { SenderRelays } from "../relays/deps.ts";
import { buildDnsRecord, findMissingRecord, isVerified, type SenderDeps } from "../senders/senders.ts";
import { checkDkim, type DkimRecord, listDkimRecords } from "./check-dkim.ts";
import { checkDmarc } from "./check-dmarc.ts";
import { checkSpf } from "./check-spf.ts";
import { Lookups } from "./lookups.ts";
import { ASK_AGAIN, finding, findProvider, findSubject, GIVE_IP, type Subject } from "./subject.ts";

/** Input of `checkDomain`. */
interface Request {
  /** A domain or an address. */
  readonly domain: string;
  readonly selector?: string | undefined;
  readonly ip?: string | undefined;
}

/** Checks what receivers look up of a domain: within 15 seconds, whatever its name servers do. */
export async function checkDomain(read: Reader, deps: DomainDeps, workspaceId: string, request: Request): Promise<DomainCheck> {
  const subject = await findSubject(read, deps, workspaceId, request);
  const [sender, spf, dkim, names, mx] = await Promise.all([
    checkSender(read, deps, workspaceId, subject),
    checkSpf(subject),
    checkDkim(subject),
    checkNames(subject),
    checkMail(read, deps, workspaceId, subject),
  ]);
  const dmarc = await checkDmarc(subject, spf, dkim);
  const findings = [sender, ...spf.findings, ...dkim.findings, ...dmarc, ...names, ...mx];
  return {
    domain: subject.domain,
    ok: findings.every(({ status }) => status !== "fail"),
    relay: subject.relay?.name ?? null,
    returnPathDomain: subject.returnPath,
    checkedAt: iso(deps.clock.now()),
    findings,
  };
}

/** The records of the keys that sign mail of a domain. With `look` name servers are asked for them, for twelve seconds at most. */
export async function loadDkimRecords(
  read: Reader,
  deps: Pick<DomainDeps, "relays" | "dns" | "clock">,
  workspaceId: string,
  { domain, look }: { readonly domain: string; readonly look: boolean },
): Promise<DkimRecord[]> {
  const relay = await deps.relays.findRelayOf(read, workspaceId, `postmaster@${domain}`);
  return listDkimRecords({ relay, domain }, look ? new Lookups(deps.dns, deps.clock.real) : null);
}

async function checkSender(read: Reader, deps: DomainDeps, workspaceId: string, { domain, from }: Subject): Promise<DomainFinding> {
  const missing = await findMissingRecord(read, workspaceId, domain);
  if (missing !== null)
    return finding(
      "sender",
      "warn",
      `This workspace may send from ${domain}, but the record that proves it is missing since ${iso(missing.failingSince)}.`,
      {
        record: buildDnsRecord(missing),
        hint: "Publish it again. It is looked for every hour.",
      },
    );
  if (await isVerified(read, deps, workspaceId, parseAddress(from)))
    return finding("sender", "ok", `This workspace may send from ${domain}.`);
  return finding("sender", "warn", `${domain} is no verified sender of this workspace, so it cannot send from there yet.`, {
    hint: `mailsvc senders create --domain ${domain}`,
  });
}

/** Mail to the domain, and to the return paths, if these are at another domain. */
async function checkMail(read: Reader, deps: DomainDeps, workspaceId: string, subject: Subject): Promise<DomainFinding[]> {
  const { inboundDomain } = deps.config;
  const own = await findInboundDomain(read, deps, workspaceId, subject.domain);
  const inbound: InboundMx | null = own ?? (subject.domain === inboundDomain ? { domain: inboundDomain, host: null } : null);
  const returns =
    inboundDomain !== null && inboundDomain !== subject.domain ? [checkMx(subject, { domain: inboundDomain, host: null })] : [];
  return Promise.all([checkMx(subject, inbound), ...returns]);
}

export interface DomainDeps extends SenderDeps {
  readonly dns: DomainRecords;
  readonly relays: SenderDeps["relays"] & SenderRelays["relays"];
  readonly config: SenderDeps["config"] & {
    /** The domain of return paths; null for bounces that go to the sender. */
    readonly inboundDomain: string | null;
  };
}

const MAX_ADDRESSES = 4;

/** Checks that the addresses which mail leaves from have names, and that these lead back. */
async function checkNames({ relay, addresses, lookups }: Subject): Promise<DomainFinding[]> {
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
interface InboundMx {
  readonly domain: string;
  /** The name that its MX should have; null where any will do that leads here. */
  readonly host: string | null;
}

/** Checks that mail to the domain arrives: at this server if it receives its mail, else anywhere. */
async function checkMx({ domain, lookups }: Subject, inbound: InboundMx | null): Promise<DomainFinding> {
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
