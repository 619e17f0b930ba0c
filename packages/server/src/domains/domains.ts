import { isIP } from "node:net";
import { type contract, type DomainCheck, type DomainFinding, parseAddress } from "@mailsvc/sdk/contract";
import type { Reader } from "../db/db.ts";
import type { Handlers } from "../http/handler.ts";
import { invalid } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import type { DomainRecords } from "../lib/domain-records.ts";
import { findInboundDomain } from "../received/received.ts";
import type { SenderRelays } from "../relays/deps.ts";
import { buildDnsRecord, findMissingRecord, isVerified, type SenderDeps } from "../senders/senders.ts";
import { checkDkim, type DkimRecord, listDkimRecords } from "./check-dkim.ts";
import { checkDmarc } from "./check-dmarc.ts";
import { checkMx, checkNames, type InboundMx } from "./check-hosts.ts";
import { checkSpf } from "./check-spf.ts";
import { Lookups } from "./lookups.ts";
import { finding, findSubject, type Subject } from "./subject.ts";

/** Input of `checkDomain`. */
interface Request {
  /** A domain or an address. */
  readonly domain: string;
  readonly selector?: string | undefined;
  readonly ip?: string | undefined;
}

/** Checks what receivers look up of a domain: within 15 seconds, whatever its name servers do. */
async function checkDomain(read: Reader, deps: DomainDeps, workspaceId: string, request: Request): Promise<DomainCheck> {
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

export const domainHandlers: Handlers<typeof contract.domains, DomainDeps> = {
  check: (input, { read, deps, workspaceId }) => {
    if (input.ip !== undefined && isIP(input.ip) === 0) throw invalid("ip", "invalid_address", `${input.ip} is not an IP address.`);
    return checkDomain(read, deps, workspaceId, input);
  },
};

export interface DomainDeps extends SenderDeps {
  readonly dns: DomainRecords;
  readonly relays: SenderDeps["relays"] & SenderRelays["relays"];
  readonly config: SenderDeps["config"] & {
    /** The domain of return paths; null for bounces that go to the sender. */
    readonly inboundDomain: string | null;
  };
}
