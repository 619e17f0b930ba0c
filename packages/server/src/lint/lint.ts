import { CONTACT_TEXT_FIELDS, LINT_RULES, type LintReport, type LintRuleId, MAIL_CLIENT_IDS, type MailClient } from "@mailsvc/sdk/contract";
import { waitForTurn } from "../lib/turn.ts";
import { checkCalendar } from "./calendar.ts";
import { checkColors } from "./colors.ts";
import { readDocument } from "./document.ts";
import { Findings, type RuleSettings } from "./findings.ts";
import { checkLinks } from "./links.ts";
import { checkElements, checkWhole } from "./structure.ts";
import { checkStyles } from "./styles.ts";
import { checkSubject, checkUnsubscribe, checkWords } from "./words.ts";

// Elements of a mail that is checked in several turns of the event loop: a check of this many takes a millisecond.
const LARGE = 2000;

/** A mail to check. */
export interface MailToLint {
  readonly html: string | null;
  readonly text: string | null;
  readonly subject: string | null;
  /** The calendar of an invitation. */
  readonly calendar: string | null;
  readonly type: "transactional" | "marketing";
  /** True if it is a complete mail. A template within a layout is not. */
  readonly isWhole: boolean;
  /** True if it was sent: a placeholder in it is then a mistake. */
  readonly wasSent: boolean;
  /** True if the HTML is rendered, so that its lines are not those of the source. */
  readonly isRendered: boolean;
  /** Variables that a template declares and uses; null for a mail that is no template. */
  readonly variables: { readonly declared: readonly string[]; readonly used: readonly string[] } | null;
  /** Errors that keep the template from being read. */
  readonly faults: readonly {
    readonly part: "subject" | "html" | "text";
    readonly line: number;
    readonly column: number;
    readonly message: string;
  }[];
}

export interface LintOptions {
  /** The mail programs that count; all by default. */
  readonly clients?: readonly MailClient[] | undefined;
  readonly rules?: RuleSettings | undefined;
}

/** Checks a mail. Takes time in proportion to its length, yields to the event loop in between, and changes nothing. */
export async function lintMail(mail: MailToLint, { clients = MAIL_CLIENT_IDS, rules = {} }: LintOptions = {}): Promise<LintReport> {
  const { html, text, subject } = mail;
  const settings = mail.isWhole ? rules : { ...rules, ...WHOLE_OFF };
  const findings = new Findings(settings, { subject: subject ?? "", html: html ?? "", text: text ?? "", calendar: "" });
  const bytes = Buffer.byteLength(html ?? "");
  const document = html === null ? null : await readDocument(html);
  for (const { part, message, ...place } of mail.faults) findings.addAt("template-syntax", part, place, message);
  if (subject !== null) checkSubject(subject, findings);
  if (document) {
    const checks = [
      () => checkElements(document, findings),
      () => checkLinks(document, findings),
      () => checkColors(document, findings),
      () => checkStyles(document, clients, findings),
      () => checkWhole(document, bytes, findings),
      () => (mail.type === "marketing" ? checkUnsubscribe(document, findings) : undefined),
    ];
    for (const check of checks) {
      check();
      if (document.elements.length > LARGE) await waitForTurn();
    }
    if (text === null) findings.add("text-missing", "text", null, "There is no plain text.");
  }
  checkWords(document, text, findings);
  if (mail.calendar !== null) checkCalendar(mail.calendar, findings);
  checkVariables(mail, findings);
  return findings.toReport(bytes, mail.isRendered);
}

/** The rules about a mail as a whole, turned off. */
const WHOLE_OFF: RuleSettings = Object.fromEntries(
  Object.entries(LINT_RULES).flatMap(([id, rule]) => ("whole" in rule ? [[id as LintRuleId, "off" as const]] : [])),
);

function checkVariables({ variables, html, text, subject, wasSent }: MailToLint, findings: Findings): void {
  const find = (name: string): number | null => {
    const at = html?.search(new RegExp(`\\{\\{[^}]*?(?<![\\w.])${name.replace(/[^\w]/g, "\\$&")}(?![\\w])`)) ?? -1;
    return at === -1 ? null : at;
  };
  if (variables && variables.declared.length > 0) {
    const rootOf = (name: string): string => name.split(/[.[]/)[0] ?? name;
    const declared = new Set(variables.declared.map(rootOf));
    const used = new Set(variables.used.map(rootOf));
    for (const name of used)
      if (!declared.has(name) && !PROVIDED.has(name))
        findings.add("variable-undeclared", "html", find(name), `{{${name}}} is not declared.`);
    for (const name of declared) if (!used.has(name)) findings.add("variable-unused", "html", null, `${name} is declared and not used.`);
  }
  if (!wasSent) return;
  for (const [part, source] of [
    ["subject", subject],
    ["html", html],
    ["text", text],
  ] as const)
    for (const { 0: placeholder, index } of (source ?? "").matchAll(/\{\{[#/^>]?\s*[\w.]{1,60}[^{}]{0,60}\}\}/g))
      findings.add("placeholder-left", part, index, `Readers see ${placeholder}.`);
}

/** Variables that campaigns provide without a declaration. */
const PROVIDED: ReadonlySet<string> = new Set([
  "email",
  "externalId",
  ...CONTACT_TEXT_FIELDS,
  ...["tags", "customFields", "unsubscribeUrl", "viewInBrowserUrl", "body"],
]);
