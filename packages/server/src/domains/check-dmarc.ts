import { AddressError, type DomainFinding, parseAddress } from "@mailsvc/sdk/contract";
import type { DkimResult } from "./check-dkim.ts";
import type { SpfResult } from "./check-spf.ts";
import { formatTags, type Lookups, parseTags } from "./lookups.ts";
import { ASK_AGAIN, finding, type Subject } from "./subject.ts";

const POLICIES = ["none", "quarantine", "reject"];
// Tags of the standard before RFC 9989.
const REMOVED = ["pct", "rf", "ri"];

type Tags = ReadonlyMap<string, string>;

/** Checks the DMARC record that decides about mail from the domain, and whether SPF or DKIM pass for a domain that it accepts. */
export async function checkDmarc(subject: Subject, spf: SpfResult, dkim: DkimResult): Promise<DomainFinding[]> {
  const { domain, lookups } = subject;
  const walk = await walkTree(lookups, domain);
  const found = findPolicyRecord(walk);
  const several = walk.places
    .filter((place) => place.several)
    .map((place) =>
      finding(
        "dmarc",
        found === null ? "fail" : "warn",
        `There are several DMARC records at _dmarc.${place.domain}, so none of them counts.`,
        {
          hint: "Keep one of them.",
        },
      ),
    );
  if (found === null && several.length > 0) return several;
  if (found === null && walk.fault !== null) return [finding("dmarc", "warn", walk.fault, { hint: ASK_AGAIN })];
  const alignment = await checkAlignment(subject, walk, found?.tags ?? new Map(), spf, dkim);
  if (found !== null) return [...several, ...(await judge(subject, walk, found)), alignment];
  const record = { type: "TXT" as const, name: `_dmarc.${domain}`, value: `v=DMARC1; p=none; rua=mailto:dmarc@${domain}` };
  const missing = finding(
    "dmarc",
    "fail",
    `Neither ${domain} nor a domain above it has a DMARC record. Gmail, Yahoo and Microsoft ask for one.`,
    {
      record,
      hint: "Publish the record, with an address of yours that takes reports. Read these for some weeks, then say quarantine, then reject.",
    },
  );
  return [missing, alignment];
}

async function judge(subject: Subject, walk: TreeWalk, { domain: at, tags }: { domain: string; tags: Tags }): Promise<DomainFinding[]> {
  const name = `_dmarc.${at}`;
  const invalid = findInvalidPolicy(tags);
  if (invalid !== null) {
    const value = formatTags([...new Map([...tags, [invalid.field, "none"]])]);
    const effect = tags.has("rua") ? "receivers take it as p=none" : "receivers ignore the record";
    const message = `The DMARC record at ${name} has the ${invalid.field} ${JSON.stringify(invalid.policy.slice(0, 40))}, so ${effect}: it is one of ${POLICIES.join(", ")}.`;
    return [finding("dmarc", "fail", message, { record: { type: "TXT", name, value }, hint: "Publish the record." })];
  }
  const { field, policy } = await findPolicy(subject, at, tags);
  const isTest = tags.get("t") === "y" && policy !== "none";
  const applied = isTest ? (policy === "reject" ? "quarantine" : "none") : policy;
  const removed = REMOVED.filter((tag) => tags.has(tag));
  const findings: DomainFinding[] = [];
  if (removed.length > 0)
    findings.push(
      finding(
        "dmarc",
        "warn",
        `The DMARC record at ${name} has ${removed.join(", ")}, which RFC 9989 took away: receivers ignore ${removed.length === 1 ? "it" : "them"}.`,
        {
          record: { type: "TXT", name, value: formatTags([...tags].filter(([tag]) => !removed.includes(tag))) },
          hint: removed.includes("pct") ? "Publish the record. To try a policy, t=y takes the place of pct." : "Publish the record.",
        },
      ),
    );
  if (isTest)
    findings.push(
      finding("dmarc", "warn", `The DMARC record at ${name} is a test (t=y): receivers act one step milder than ${policy}.`, {
        hint: "Remove t=y once the reports show no mail of yours that fails.",
      }),
    );
  findings.push(...(await checkReports(subject, walk, name, tags)));
  const whose = at === subject.domain ? "" : `, which ${at} publishes for the domains under it`;
  const next = {
    none: "Once the reports show no mail of yours that fails: p=quarantine.",
    quarantine: "Once nothing of yours is lost: p=reject.",
  }[policy];
  findings.push(
    finding(
      "dmarc",
      "ok",
      `Mail that fails is ${{ none: "delivered all the same", quarantine: "put into spam", reject: "refused" }[applied]} (${field}=${policy}${isTest ? ", t=y" : ""})${whose}.`,
      { hint: isTest ? null : (next ?? null) },
    ),
  );
  return findings;
}

/**
 * Finds the policy that makes receivers ignore all policies of a record, because it is no word of the standard: `p`, which may be
 * missing if the record asks for reports, or one of the others.
 */
function findInvalidPolicy(tags: Tags): { field: string; policy: string } | null {
  const fields = ["p", "sp", "np"].map((field) => ({ field, policy: tags.get(field) }));
  for (const { field, policy } of fields) {
    if (policy === undefined && (field !== "p" || tags.has("rua"))) continue;
    if (policy === undefined || !POLICIES.includes(policy)) return { field, policy: policy ?? "" };
  }
  return null;
}

/** The policy for the domain: `p` at its own record; under another one's `np` if the domain does not exist, else `sp`. */
async function findPolicy({ domain, lookups }: Subject, at: string, tags: Tags): Promise<{ field: string; policy: string }> {
  const p = { field: "p", policy: tags.get("p") ?? "none" };
  if (at === domain) return p;
  const records = await Promise.all([lookups.addresses(domain), lookups.mx(domain), lookups.txt(domain)]);
  const exists = records.some(({ records, fault }) => records.length > 0 || fault !== null);
  const field = !exists && tags.has("np") ? "np" : tags.has("sp") ? "sp" : null;
  return field === null ? p : { field, policy: tags.get(field) ?? "none" };
}

/** Checks the addresses that get reports, and the permission of another domain for them. */
async function checkReports({ lookups }: Subject, walk: TreeWalk, name: string, tags: Tags): Promise<DomainFinding[]> {
  const rua = tags.get("rua");
  if (!rua)
    return [
      finding("dmarc", "warn", `The DMARC record at ${name} asks for no reports (rua), so nobody sees what fails.`, {
        hint: "Add rua=mailto:ADDRESS.",
      }),
    ];
  const findings: DomainFinding[] = [];
  for (const uri of rua.split(",").slice(0, 5)) {
    const target = readTarget(uri.trim());
    if (target === null) {
      findings.push(
        finding(
          "dmarc",
          "warn",
          `The DMARC record at ${name} sends reports to ${JSON.stringify(uri.trim().slice(0, 80))}, which is no mailto: address.`,
        ),
      );
      continue;
    }
    const owner = name.slice("_dmarc.".length);
    if (target === owner || findOrganization(walk) === findOrganization(await walkTree(lookups, target))) continue;
    const consent = `${owner}._report._dmarc.${target}`;
    const { records, fault } = await lookups.txt(consent);
    if (fault !== null || records.some((text) => /^v=DMARC1(?:;|$)/.test(text.trim()))) continue;
    const message = `${target} does not say that it takes reports about ${owner}, so none are sent there.`;
    findings.push(
      finding("dmarc", "warn", message, {
        record: { type: "TXT", name: consent, value: "v=DMARC1" },
        hint: `The owner of ${target} publishes the record.`,
      }),
    );
  }
  return findings;
}

function readTarget(uri: string): string | null {
  try {
    return parseAddress(decodeURIComponent(/^mailto:([^!?]+)/i.exec(uri)?.[1] ?? "")).domain;
  } catch (error) {
    if (error instanceof AddressError || error instanceof URIError) return null;
    throw error;
  }
}

/** DMARC passes when SPF or DKIM pass for the domain of From, or for one of the same organization. */
async function checkAlignment(
  { domain, returnPath, relay, lookups }: Subject,
  walk: TreeWalk,
  tags: Tags,
  spf: SpfResult,
  dkim: DkimResult,
): Promise<DomainFinding> {
  if (relay === null) return finding("alignment", "skipped", "No relay takes this mail.");
  const signers = await Promise.all(
    (dkim.signers ?? []).map(async (signer) => ({ signer, aligned: await isAligned(lookups, walk, signer, tags.get("adkim")) })),
  );
  const signer = signers.find(({ aligned }) => aligned)?.signer;
  const isReturnAligned = await isAligned(lookups, walk, returnPath, tags.get("aspf"));
  if (signer !== undefined) return finding("alignment", "ok", `DMARC passes by DKIM: the mail is signed for ${signer}.`);
  if (isReturnAligned && spf.passes === true)
    return finding("alignment", "warn", `DMARC passes by SPF alone, for ${returnPath}. It fails when somebody forwards the mail.`, {
      hint: "Sign the mail with DKIM.",
    });
  if (spf.passes === null && isReturnAligned)
    return finding("alignment", "warn", `DMARC can pass by SPF, for ${returnPath}; whether SPF passes is not known here.`, {
      hint: "Sign the mail with DKIM.",
    });
  if (dkim.signers === null)
    return finding("alignment", "warn", `DMARC passes only if the relay ${relay.name} signs the mail for ${domain}.`, {
      hint: "Check its key: --selector SELECTOR.",
    });
  return finding("alignment", "fail", `DMARC does not pass: neither SPF nor DKIM pass for ${domain}.`, {
    hint: "Mend what failed above. DKIM is the more robust of the two.",
  });
}

/*
 * DMARC as of RFC 9989: a record is found by a walk up the DNS tree; there is no list of public suffixes.
 */

// The walk looks at the domain itself, and then at no more than its last seven labels.
const MAX_LABELS = 7;

/** A place on the way up from a domain, and what is there. */
interface Place {
  readonly domain: string;
  readonly tags: ReadonlyMap<string, string> | null;
  /** True if there are several records, none of which counts. */
  readonly several: boolean;
}

/** The way up from a domain, as far as it has to be gone. */
interface TreeWalk {
  readonly places: readonly Place[];
  /** Reason the walk stopped early. */
  readonly fault: string | null;
}

/** Walks up from a domain, looking for DMARC records. */
async function walkTree(lookups: Lookups, domain: string): Promise<TreeWalk> {
  const places: Place[] = [];
  for (const name of listWay(domain)) {
    const { records, fault } = await lookups.txt(`_dmarc.${name}`);
    if (fault !== null) return { places, fault };
    const [tags, ...others] = records.filter((text) => /^\s*[vV][ \t]*=[ \t]*DMARC1[ \t]*(?:;|$)/.test(text)).map(readTags);
    const place = { domain: name, tags: others.length === 0 ? (tags ?? null) : null, several: others.length > 0 };
    places.push(place);
    const psd = place.tags?.get("psd");
    if (psd === "n" || psd === "y") break;
  }
  return { places, fault: null };
}

/** The organizational domain: two domains that have the same one are aligned. */
function findOrganization({ places }: TreeWalk): string {
  const [start] = places;
  const own = places.find(({ tags }) => tags?.get("psd") === "n");
  if (own) return own.domain;
  const suffix = places.findIndex(({ tags }, i) => i > 0 && tags?.get("psd") === "y");
  // The domain one label below a public suffix that says that it is one. The walk may have jumped over it.
  if (suffix > 0) {
    const length = (places[suffix]?.domain.split(".").length ?? 0) + 1;
    return start?.domain.split(".").slice(-length).join(".") ?? "";
  }
  return places.findLast(({ tags }) => tags !== null)?.domain ?? start?.domain ?? "";
}

/**
 * Finds the record that decides about mail from the domain where a walk started: its own, that of its organizational domain, or that of
 * the public suffix above this one. Null if there is none; a record on the way between them does not count.
 */
function findPolicyRecord(walk: TreeWalk): { readonly domain: string; readonly tags: ReadonlyMap<string, string> } | null {
  const organization = findOrganization(walk);
  const found = walk.places[0]?.tags
    ? walk.places[0]
    : (walk.places.find(({ domain, tags }) => domain === organization && tags !== null) ??
      walk.places.find(({ tags }) => tags?.get("psd") === "y"));
  return found?.tags ? { domain: found.domain, tags: found.tags } : null;
}

/** True if two domains are aligned, as `adkim` or `aspf` asks for it. */
async function isAligned(lookups: Lookups, from: TreeWalk, other: string, mode: string | undefined): Promise<boolean> {
  const [start] = from.places;
  if (start?.domain === other) return true;
  if (mode === "s") return false;
  return findOrganization(from) === findOrganization(await walkTree(lookups, other));
}

// Tags whose values are words of the standard, in which case does not matter.
const WORDS = new Set(["p", "sp", "np", "adkim", "aspf", "t", "psd"]);

function readTags(text: string): Map<string, string> {
  return new Map([...parseTags(text)].map(([tag, value]) => [tag, WORDS.has(tag) ? value.toLowerCase() : value]));
}

function listWay(domain: string): string[] {
  const labels = domain.split(".");
  const first = Math.max(1, labels.length - MAX_LABELS);
  return [domain, ...labels.slice(first).map((_, i) => labels.slice(first + i).join("."))];
}
