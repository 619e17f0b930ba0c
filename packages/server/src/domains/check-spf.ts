import { isIPv6 } from "node:net";
import type { DomainFinding } from "@mailsvc/sdk/contract";
import { shorten } from "./lookups.ts";
import { addTerm, findSpfRecords, isPermitted, mergeRecords, readSpf, type SpfReading, type SpfRecord } from "./spf-record.ts";
import { ASK_AGAIN, finding, GIVE_IP, type Subject } from "./subject.ts";

const PUBLISH = "Publish the record, and run this again.";

/** SPF result for mail of the subject. `passes` is null if it is not known. */
export interface SpfResult {
  readonly findings: readonly DomainFinding[];
  readonly passes: boolean | null;
}

/** Checks the SPF record of the domain in the return path, for which receivers look it up. */
export async function checkSpf(subject: Subject): Promise<SpfResult> {
  const { lookups, returnPath, domain } = subject;
  const { records: texts, fault } = await lookups.txt(returnPath);
  if (fault !== null) return { findings: [finding("spf", "warn", fault, { hint: ASK_AGAIN })], passes: null };
  const records = findSpfRecords(texts);
  const [record] = records;
  const about = returnPath === domain ? "" : ` Bounces come back to ${returnPath}, so receivers look for it there.`;
  if (record === undefined) {
    const hint = listTerms(subject).length > 0 ? PUBLISH : `${PUBLISH} It must name the address that mail leaves from. ${GIVE_IP}`;
    const message = `${returnPath} has no SPF record: nothing says which servers may send its mail.${about}`;
    return { findings: [finding("spf", "fail", message, { record: buildRecord(subject, null), hint })], passes: false };
  }
  if (records.length > 1) {
    const message = `${returnPath} has ${records.length} SPF records. Receivers take that as an error, and none of them counts.`;
    const one = { type: "TXT" as const, name: returnPath, value: mergeRecords(records) };
    return {
      findings: [finding("spf", "fail", message, { record: one, hint: "Publish this one in place of all of them." })],
      passes: false,
    };
  }
  return judge(subject, record, await readSpf(lookups, returnPath, record));
}

function judge(subject: Subject, record: SpfRecord, reading: SpfReading): SpfResult {
  const { returnPath } = subject;
  const permitted = reading.errors.length > 0 ? false : findPermission(subject, reading);
  const findings: DomainFinding[] = [
    ...reading.errors.map((error) =>
      finding("spf", "fail", error, { hint: `Receivers take the record as an error until this is mended: ${shorten(record.text)}` }),
    ),
    ...reading.warnings.map((warning) => finding("spf", "warn", warning, { hint: "Remove what is not needed from the record." })),
    ...judgeAll(record, returnPath),
  ];
  if (permitted === false && reading.errors.length === 0) {
    const whom = subject.addresses.length > 0 ? subject.addresses.join(", ") : `the relay ${subject.relay?.name ?? ""}`;
    const message = `The SPF record of ${returnPath} does not let ${whom} send.`;
    findings.push(finding("spf", "fail", message, { record: buildRecord(subject, record), hint: PUBLISH }));
  }
  if (permitted === null) findings.push(describeUnknown(subject));
  if (permitted === true && findings.every(({ status }) => status === "ok"))
    findings.push(
      finding("spf", "ok", `One record, ${count(reading.lookups)}, and it lets this server's mail leave: ${shorten(record.text)}`),
    );
  return { findings, passes: permitted };
}

/** True if the record lets the mail leave; null if nobody knows. */
function findPermission({ addresses, spfInclude }: Subject, { node, includes }: SpfReading): boolean | null {
  if (spfInclude !== null && includes.has(spfInclude)) return true;
  const answers = addresses.map((address) => isPermitted(node, address));
  // A provider's host is where mail is taken in; it leaves from other addresses.
  if (spfInclude !== null) return answers.length > 0 && answers.every((answer) => answer === true);
  if (answers.length === 0 || answers.includes(null)) return answers.includes(false) ? false : null;
  return answers.every(Boolean);
}

function judgeAll({ terms }: SpfRecord, domain: string): DomainFinding[] {
  const all = terms.find(({ name }) => name === "all");
  if (all === undefined && terms.some(({ name }) => name === "redirect")) return [];
  if (all?.qualifier === "+")
    return [
      finding("spf", "fail", `The SPF record of ${domain} lets every server of the world send (+all).`, {
        hint: "End it with ~all or -all.",
      }),
    ];
  if (all === undefined || all.qualifier === "?")
    return [
      finding("spf", "warn", `The SPF record of ${domain} says nothing about servers that are not in it.`, {
        hint: "End it with ~all or -all.",
      }),
    ];
  return [];
}

function describeUnknown({ relay, addresses }: Subject): DomainFinding {
  if (relay === null && addresses.length === 0)
    return finding("spf", "skipped", "There is a record. No relay takes this mail, so there is no sending server to look for in it.", {
      hint: GIVE_IP,
    });
  if (addresses.length === 0)
    return finding(
      "spf",
      "warn",
      `There is a record. The relay ${relay?.name ?? ""} is on this machine or network, so the address that mail leaves from is not known here.`,
      {
        hint: GIVE_IP,
      },
    );
  return finding(
    "spf",
    "warn",
    "There is a record. Whether it lets this mail leave depends on each mail, or on names that were not found.",
  );
}

/** The terms that let the mail leave. */
function listTerms({ addresses, spfInclude }: Subject): string[] {
  return spfInclude === null ? addresses.map((address) => `${isIPv6(address) ? "ip6" : "ip4"}:${address}`) : [`include:${spfInclude}`];
}

function buildRecord(subject: Subject, record: SpfRecord | null): DomainFinding["record"] {
  const terms = listTerms(subject);
  const [first] = findSpfRecords(["v=spf1 ~all"]);
  const start = record ?? first;
  if (terms.length === 0 || start === undefined) return null;
  const [changed] = findSpfRecords([terms.reduce((text, term) => addTerm(findSpfRecords([text])[0] ?? start, term), start.text)]);
  return { type: "TXT", name: subject.returnPath, value: changed?.text ?? "" };
}

function count(lookups: number): string {
  return lookups === 1 ? "1 lookup" : `${lookups} lookups`;
}
