import { createPublicKey } from "node:crypto";
import type { DomainFinding } from "@mailsvc/sdk/contract";
import { chooseKeys, type DkimKey, type DkimPublicKey, toPublicKey } from "../mail/dkim.ts";
import { type Answer, formatTags, parseTags } from "./lookups.ts";
import { ASK_AGAIN, finding, type Subject } from "./subject.ts";

const GOOD_BITS = 2048;
const LEAST_BITS = 1024;

/** The domains that mail of the subject is signed for with a key that receivers find; null if a provider may sign it. */
export interface DkimResult {
  readonly findings: readonly DomainFinding[];
  readonly signers: readonly string[] | null;
}

/** Checks that receivers find the public keys of what the mail is signed with. */
export async function checkDkim(subject: Subject): Promise<DkimResult> {
  const { relay, domain, selector, lookups } = subject;
  const keys = chooseKeys(relay?.dkim ?? [], domain);
  const own = await Promise.all(keys.map(async (key) => ({ key, found: judgeOwn(key, await lookups.txt(toName(key))) })));
  const theirs = selector === null ? [] : [judgeTheirs({ domain, selector }, await lookups.txt(toName({ domain, selector })))];
  const findings = [...own.flatMap(({ found }) => found), ...theirs.flat()];
  if (findings.length === 0) return { findings: [describeUnsigned(subject)], signers: null };
  const isFound = (found: readonly DomainFinding[]): boolean => found.every(({ status }) => status !== "fail");
  const signers = own.filter(({ found }) => isFound(found)).map(({ key }) => key.domain);
  return { findings, signers: [...signers, ...(theirs.some(isFound) ? [domain] : [])] };
}

/** The DNS record that publishes a key. */
function buildDkimRecord(key: DkimKey): NonNullable<DomainFinding["record"]> {
  const { type, key: base64 } = toPublicKey(key);
  const value = formatTags([
    ["v", "DKIM1"],
    ["k", type],
    ["p", base64],
  ]);
  return { type: "TXT", name: toName(key), value };
}

/** The record of a key that signs mail of a domain. */
export interface DkimRecord extends NonNullable<DomainFinding["record"]> {
  /** True if receivers find the key; null if the name servers were not asked, or do not answer. */
  readonly isFound: boolean | null;
}

/** The records of the keys that sign mail of a domain; without `lookups`, name servers are not asked for them. */
export async function listDkimRecords(
  { relay, domain }: Pick<Subject, "relay" | "domain">,
  lookups: Subject["lookups"] | null,
): Promise<DkimRecord[]> {
  const keys = chooseKeys(relay?.dkim ?? [], domain);
  return Promise.all(
    keys.map(async (key) => {
      const answer = await lookups?.txt(toName(key));
      const isKnown = answer !== undefined && answer.fault === null;
      return { ...buildDkimRecord(key), isFound: isKnown ? judgeOwn(key, answer).every(({ status }) => status !== "fail") : null };
    }),
  );
}

function describeUnsigned({ relay, domain }: Subject): DomainFinding {
  if (relay === null) return finding("dkim", "skipped", "No relay takes this mail, so nothing is signed.");
  return finding(
    "dkim",
    "warn",
    `This server has no DKIM key for ${domain}. If the relay ${relay.name} does not sign its mail, receivers distrust it.`,
    {
      hint: "Give the server a key: --dkim DOMAIN:SELECTOR:KEYFILE, or dkim of the relay. If your provider signs: --selector SELECTOR checks its key.",
    },
  );
}

/** A key that this server signs with. */
function judgeOwn(key: DkimKey, { records, fault }: Answer<string>): DomainFinding[] {
  const expected = toPublicKey(key);
  const record = buildDkimRecord(key);
  if (fault !== null) return [finding("dkim", "warn", fault, { hint: ASK_AGAIN })];
  const faulty = findFault(key, records);
  if (faulty !== null) return [finding("dkim", "fail", faulty, { record, hint: "Publish the record, and run this again." })];
  const tags = parseTags(records[0] ?? "");
  if (readKey(tags) !== expected.key)
    return [
      finding("dkim", "fail", `The key at ${toName(key)} is not the one this server signs with, so receivers find every signature wrong.`, {
        record,
        hint: "Publish the record, or give the server the private key that belongs to the published one.",
      }),
    ];
  return judgeKey(key, tags, expected);
}

/** A key that a provider signs with. */
function judgeTheirs(key: Pick<DkimKey, "domain" | "selector">, { records, fault }: Answer<string>): DomainFinding[] {
  if (fault !== null) return [finding("dkim", "warn", fault, { hint: ASK_AGAIN })];
  const faulty = findFault(key, records);
  if (faulty !== null) return [finding("dkim", "fail", faulty, { hint: "Publish the record that your provider shows." })];
  const tags = parseTags(records[0] ?? "");
  return judgeKey(key, tags, { type: tags.get("k") === "ed25519" ? "ed25519" : "rsa", key: readKey(tags) });
}

/** Reason receivers find no usable key; null if they do. */
function findFault(key: Pick<DkimKey, "domain" | "selector">, records: readonly string[]): string | null {
  const name = toName(key);
  if (records.length === 0) return `There is no DKIM key at ${name}, so receivers cannot check the signatures.`;
  if (records.length > 1) return `There are ${records.length} TXT records at ${name}, and receivers may take any of them.`;
  const tags = parseTags(records[0] ?? "");
  if ((tags.get("v") ?? "DKIM1") !== "DKIM1" || !tags.has("p")) return `The TXT record at ${name} is no DKIM key.`;
  if (readKey(tags) === "") return `The DKIM key at ${name} was revoked: its p is empty.`;
  if (!(tags.get("h") ?? "sha256").split(":").some((hash) => hash.trim() === "sha256"))
    return `The DKIM key at ${name} does not allow SHA-256.`;
  return null;
}

function judgeKey(
  key: Pick<DkimKey, "domain" | "selector">,
  tags: ReadonlyMap<string, string>,
  { type, key: base64 }: DkimPublicKey,
): DomainFinding[] {
  const name = toName(key);
  const bits = type === "rsa" ? countBits(base64) : null;
  if (type === "rsa" && bits === null) return [finding("dkim", "fail", `The key at ${name} is no RSA key.`)];
  if (bits !== null && bits < LEAST_BITS)
    return [finding("dkim", "fail", `The key at ${name} has ${bits} bits; receivers ignore keys below ${LEAST_BITS}.`)];
  const found: DomainFinding[] = [];
  if (bits !== null && bits < GOOD_BITS)
    found.push(
      finding("dkim", "warn", `The key at ${name} has ${bits} bits only.`, {
        hint: `Make one with ${GOOD_BITS} bits, under another selector.`,
      }),
    );
  if (tags.get("t")?.split(":").includes("y"))
    found.push(
      finding("dkim", "warn", `The key at ${name} says that it is a test (t=y): receivers may ignore its signatures.`, {
        hint: "Remove t=y.",
      }),
    );
  return found.length > 0
    ? found
    : [finding("dkim", "ok", `The key at ${name} is right${bits === null ? " (Ed25519)" : ` (RSA, ${bits} bits)`}.`)];
}

function countBits(base64: string): number | null {
  try {
    return createPublicKey({ key: Buffer.from(base64, "base64"), format: "der", type: "spki" }).asymmetricKeyDetails?.modulusLength ?? null;
  } catch {
    return null;
  }
}

function readKey(tags: ReadonlyMap<string, string>): string {
  return (tags.get("p") ?? "").replace(/\s/g, "");
}

function toName({ domain, selector }: Pick<DkimKey, "domain" | "selector">): string {
  return `${selector}._domainkey.${domain}`;
}
