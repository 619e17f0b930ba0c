import { isIPv4, isIPv6 } from "node:net";
import { Readable } from "node:stream";
import type { MailAuthentication } from "@mailsvc/sdk/contract";
import { dkimVerify } from "mailauth/lib/dkim/verify.js";
import { evaluateDmarc } from "mailauth/lib/dmarc/index.js";
import { spf } from "mailauth/lib/spf/index.js";
import type { DomainRecords } from "../../lib/domain-records.ts";

/** The client that handed a mail over. */
export interface Peer {
  /** Its public address; null for a mail server of our own network, which alone knows where the mail came from. */
  readonly ip: string | null;
  /** Name that it gave in HELO or EHLO. */
  readonly helo: string;
  /** The sender of the envelope; empty for none. */
  readonly envelopeFrom: string;
}

type Result = MailAuthentication["dkim"];
type Signature = Awaited<ReturnType<typeof dkimVerify>>["results"][number];

// RFC 8301: shorter keys prove nothing.
const MIN_KEY_BITS = 1024;
const DOMAIN = /^(?=.{1,253}$)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})+$/;

/**
 * Finds out what SPF, DKIM and DMARC (RFC 7208, 6376, 9989) say about the sender of a mail. Never throws for what a mail or the DNS
 * contains. Hashing a mail takes seconds at worst: the server calls this on the thread of `MailAuthenticator`.
 */
export async function authenticate(raw: Uint8Array, peer: Peer, dns: DomainRecords): Promise<MailAuthentication> {
  const failures: string[] = [];
  const resolver = toResolver(dns, peer.ip, failures);
  const { head, body, hasWeakSignature } = readSignedMail(raw);
  const signed = await dkimVerify(Readable.from([head, body]), {
    resolver,
    sender: peer.envelopeFrom,
    minBitLength: MIN_KEY_BITS,
  });
  const sent = peer.ip === null ? null : await spf({ resolver, ip: peer.ip, helo: peer.helo, sender: peer.envelopeFrom, mta: "localhost" });
  const spfResult = sent && readResult(sent.status.result);
  const valid = signed.results.filter((signature) => judge(signature) === "pass");
  const dkimResult = signed.results.map(judge).reduce(better, hasWeakSignature ? "policy" : "none");
  const { response } = await evaluateDmarc({
    resolver,
    headerFrom: [...signed.headerFrom],
    ...(signed.fromFields !== undefined && { fromFields: signed.fromFields }),
    spfDomains: sent && spfResult === "pass" ? [sent.domain] : [],
    dkimDomains: valid.map(({ id = "", signingDomain = "" }) => ({ id, domain: signingDomain })),
  });
  const isUndecided = spfResult === "temperror" || dkimResult === "temperror";
  const dmarc = response === false ? "permerror" : decide(readResult(response.status.result), { isUndecided, isKnown: spfResult !== null });
  return {
    spf: spfResult,
    dkim: dkimResult,
    dmarc,
    signers: [...new Set(valid.map(({ signingDomain = "" }) => signingDomain.toLowerCase()))].filter((domain) => DOMAIN.test(domain)),
    policy: (response && readPolicy(response.policy)) || null,
    reason: explain({ dmarc, spf: spfResult, dkim: dkimResult }, failures),
  };
}

/** A mail fails DMARC only if what could have let it pass is known. */
function decide(result: Result, { isUndecided, isKnown }: { isUndecided: boolean; isKnown: boolean }): MailAuthentication["dmarc"] {
  if (result !== "fail") return result;
  if (isUndecided) return "temperror";
  return isKnown ? "fail" : null;
}

/** Result of a signature: a failure if its hash is that of another body. */
function judge({ status, bodyHash, bodyHashExpecting }: Signature): Result {
  if (status.result === "neutral" && bodyHash && bodyHashExpecting && bodyHash !== bodyHashExpecting) return "fail";
  return readResult(status.result);
}

// One valid signature is enough; else it counts that a key was not found out, before what is wrong with the others.
const ORDER: readonly Result[] = ["pass", "temperror", "fail", "policy", "permerror", "neutral", "softfail", "none"];

function better(one: Result, other: Result): Result {
  return ORDER.indexOf(one) <= ORDER.indexOf(other) ? one : other;
}

function readResult(text: string): Result {
  return ORDER.find((result) => result === text) ?? "permerror";
}

function readPolicy(text: string | undefined): MailAuthentication["policy"] {
  return text === "none" || text === "quarantine" || text === "reject" ? text : null;
}

/** Result for a mail that could not be checked at all. */
export function unknownSender(reason: string): MailAuthentication {
  return { spf: "temperror", dkim: "temperror", dmarc: "temperror", signers: [], policy: null, reason };
}

function explain({ spf, dkim, dmarc }: Pick<MailAuthentication, "spf" | "dkim" | "dmarc">, [failure]: readonly string[]): string | null {
  if (failure !== undefined && [spf, dkim, dmarc].includes("temperror")) return failure;
  if (dmarc === "permerror") return "From names no domain, or several, so DMARC cannot be asked about it.";
  if (spf === null) return "It came from a mail server of this network, so SPF was not checked: that server knows who sent it.";
  return null;
}

/** Resolver of mailauth that asks the DNS each question once. Notes in `failures` the questions that no name server answers. */
function toResolver(dns: DomainRecords, ip: string | null, failures: string[]) {
  const answers = new Map<string, Promise<readonly unknown[]>>();
  const ask = <T>(kind: keyof DomainRecords, name: string, question: () => Promise<T[]>): Promise<T[]> => {
    const key = `${kind} ${name.toLowerCase()}`;
    // The records stored under a kind are of that kind.
    const known = answers.get(key) as Promise<T[]> | undefined;
    if (known) return known;
    const answer = question().catch((error: { code?: unknown }) => {
      failures.push(`No name server answered for ${name.slice(0, 253)} (${String(error.code ?? "error").slice(0, 40)}).`);
      throw error;
    });
    answers.set(key, answer);
    return answer;
  };
  const lookUp = async (name: string, type: string): Promise<readonly unknown[]> => {
    switch (type) {
      case "TXT":
        return (await ask("txt", name, () => dns.txt(name))).map((text) => [text]);
      case "MX":
        return ask("mx", name, () => dns.mx(name));
      case "A":
        return (await ask("addresses", name, () => dns.addresses(name))).filter(isIPv4);
      case "AAAA":
        return (await ask("addresses", name, () => dns.addresses(name))).filter(isIPv6);
      case "PTR":
        return ip === null ? [] : ask("names", ip, () => dns.names(ip));
      default:
        return [];
    }
  };
  return async (name: string, type: string): Promise<string[]> => {
    const records = await lookUp(name, type);
    // The type of mailauth knows addresses only, and not the lists of texts and of mail servers that it takes, too.
    if (records.length > 0) return [...records] as string[];
    // A domain with mail servers exists, which decides between the policies `sp` and `np`.
    const exists =
      type === "A" && (await lookUp(name, "AAAA").then(({ length }) => length > 0 || lookUp(name, "MX").then((mx) => mx.length > 0)));
    throw Object.assign(new Error(`There is no ${type} record.`), { code: exists ? "ENODATA" : "ENOTFOUND" });
  };
}

// Each asks the DNS for its key. Real mail has one to four.
const MAX_SIGNATURES = 8;
// The tags a=rsa-sha1 and l=.
const WEAK = /[:;]\s*(?:a\s*=\s*rsa-sha1\s*(?:;|$)|l\s*=)/i;

const LF = 0x0a;
const CR = 0x0d;

/** A mail as its signatures are verified. */
interface SignedMail {
  readonly head: Buffer;
  readonly body: Buffer;
  /** True if a signature was left out that proves nothing, whatever it says. */
  readonly hasWeakSignature: boolean;
}

/**
 * Prepares a mail for the verification of its signatures. Its lines end with CRLF, as they were signed. Leaves out the signatures beyond
 * the first eight; those by SHA-1 (RFC 8301) and those with a length, behind which anybody can add text (RFC 6376 8.2); and the seals of
 * ARC, which nobody asks for. So a mail is hashed twice at most, for two forms of its text, whatever its sender wrote.
 */
function readSignedMail(mail: Uint8Array): SignedMail {
  const bytes = endLinesWithCrlf(Buffer.from(mail.buffer, mail.byteOffset, mail.byteLength));
  const kept: Buffer[] = [];
  let signatures = 0;
  let hasWeakSignature = false;
  let at = 0;
  while (at < bytes.length && bytes[at] !== LF && !(bytes[at] === CR && bytes[at + 1] === LF)) {
    const end = findFieldEnd(bytes, at);
    const field = bytes.subarray(at, end);
    const name = /^[!-9;-~]{1,60}(?=[ \t]*:)/.exec(field.subarray(0, 80).toString("latin1"))?.[0].toLowerCase() ?? "";
    const isSignature = name === "dkim-signature";
    const isWeak = isSignature && WEAK.test(field.toString("latin1"));
    if (isSignature && !isWeak) signatures += 1;
    hasWeakSignature ||= isWeak;
    if (!isWeak && !name.startsWith("arc-") && (!isSignature || signatures <= MAX_SIGNATURES)) kept.push(field);
    at = end;
  }
  return { head: Buffer.concat(kept), body: bytes.subarray(at), hasWeakSignature };
}

/** Returns the end of a field: its next lines begin with a blank. */
function findFieldEnd(bytes: Buffer, from: number): number {
  let at = from;
  do {
    const end = bytes.indexOf(LF, at);
    if (end === -1) return bytes.length;
    at = end + 1;
  } while (bytes[at] === 0x20 || bytes[at] === 0x09);
  return at;
}

/** The same mail if no line ends with a bare LF. mailauth does this, too, but takes 14 s for 24 MB of empty lines, and this 0.1 s. */
function endLinesWithCrlf(bytes: Buffer): Buffer {
  let bare = 0;
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) if (bytes[at - 1] !== CR) bare += 1;
  if (bare === 0) return bytes;
  const out = Buffer.allocUnsafe(bytes.length + bare);
  let to = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === LF && bytes[at - 1] !== CR) out[to++] = CR;
    out[to++] = byte;
  }
  return out;
}
