import {
  CALENDAR_METHODS,
  type CalendarProperty,
  CONTACT_TEXT_FIELDS,
  LINT_RULES,
  type LintReport,
  type LintRuleId,
  MAIL_CLIENT_IDS,
  type MailClient,
  readCalendar,
} from "@mailsvc/sdk/contract";
import { waitForTurn } from "../lib/turn.ts";
import { type MailDocument, readDocument } from "./document.ts";
import { Findings, type RuleSettings } from "./findings.ts";
import { checkElements, checkLinks, checkWhole } from "./structure.ts";
import { checkColors, checkStyles } from "./styles.ts";

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

const MAX_SUBJECT = 70;

// Phrases, not words: "free" alone stands in every second honest mail.
const SPAM =
  /\b(?:act now|100% free|free money|risk[- ]free|double your (?:income|money)|earn (?:extra )?(?:cash|money)|cash bonus|no obligation|you(?:'ve| have) (?:been selected|won)|claim your prize|this is not spam|dear friend|lose weight fast|miracle cure|limited time offer|once in a lifetime|guaranteed income|work from home|click here now|buy now!|viagra)\b/gi;

/** Checks the subject. */
function checkSubject(subject: string, findings: Findings): void {
  const words = subject.replace(/\{\{[^}]*\}\}/g, "");
  if (words.length > MAX_SUBJECT) findings.add("subject-long", "subject", MAX_SUBJECT, `The subject has ${words.length} characters.`);
  const letters = words.replace(/[^\p{L}]/gu, "");
  if (letters.length >= 8 && letters === letters.toUpperCase() && letters !== letters.toLowerCase())
    findings.add("subject-shouting", "subject", 0, "The subject is written in capitals.");
  const marks = /[!?]{2,}/.exec(words);
  if (marks) findings.add("subject-shouting", "subject", subject.indexOf(marks[0]), `The subject has ${marks[0].slice(0, 10)}.`);
  findSpam(subject, 0, "subject", findings);
}

/** Checks the words that readers see, and for which a text was written. */
function checkWords(document: MailDocument | null, text: string | null, findings: Findings): void {
  if (document) for (const piece of document.texts) findSpam(piece.text, piece.offset, "html", findings);
  if (text !== null) findSpam(text, 0, "text", findings);
}

/** Checks that a marketing mail can be unsubscribed from. */
function checkUnsubscribe(document: MailDocument, findings: Findings): void {
  const hasLink =
    document.elements.some(({ name, attributes }) => name === "a" && /unsubscribe|opt-?out/i.test(attributes.get("href") ?? "")) ||
    document.texts.some(({ text }) => /\bunsubscribe\b/i.test(text));
  if (!hasLink) findings.add("unsubscribe-missing", "html", null, "There is no unsubscribe link.");
}

function findSpam(text: string, offset: number, part: "subject" | "html" | "text", findings: Findings): void {
  for (const { 0: phrase, index } of text.matchAll(SPAM)) findings.add("spam-words", part, offset + index, `“${phrase}” reads like spam.`);
}

/** Properties that each event of a message needs (RFC 5545, 3.6.1; RFC 5546, 3.2), and their use. */
const NEEDED = {
  UID: "changes and answers find the event by it",
  DTSTAMP: "of two versions the newer one counts",
  DTSTART: "it says when the event is",
  ORGANIZER: "answers go there",
} as const;
/** Messages of those who were invited; theirs need no beginning. */
const ANSWERS = new Set(["REPLY", "REFRESH", "COUNTER", "DECLINECOUNTER"]);

/** Checks the calendar of an invitation. */
function checkCalendar(calendar: string, findings: Findings): void {
  const { method, properties, fault } = readCalendar(calendar);
  const add = (rule: "calendar-invalid" | "calendar-incomplete", line: number | null, message: string): void =>
    findings.addAt(rule, "calendar", line === null ? null : { line, column: 1 }, message, line ?? 0);
  if (fault !== null) {
    add("calendar-invalid", null, fault);
    return;
  }
  const top = properties.filter(({ of }) => of === "VCALENDAR");
  if (!CALENDAR_METHODS.some((one) => one === method))
    add("calendar-invalid", null, method === null ? "It has no METHOD." : `METHOD is none of ${CALENDAR_METHODS.join(", ")}.`);
  if (find(top, "VERSION")?.value.trim() !== "2.0") add("calendar-incomplete", null, "VERSION:2.0 is missing.");
  if (!find(top, "PRODID")) add("calendar-incomplete", null, "PRODID is missing, the name of the program that wrote it.");
  const events = Map.groupBy(
    properties.filter(({ of }) => of === "VCALENDAR/VEVENT"),
    ({ component }) => component,
  );
  for (const own of events.values()) {
    for (const [name, use] of Object.entries(NEEDED)) {
      const isNeeded =
        name === "DTSTART" ? !ANSWERS.has(method ?? "") && method !== "CANCEL" : name !== "ORGANIZER" || method !== "PUBLISH";
      if (isNeeded && !find(own, name)) add("calendar-incomplete", own[0]?.line ?? null, `An event has no ${name}: ${use}.`);
    }
    if (method !== "PUBLISH" && !find(own, "ATTENDEE"))
      add(
        "calendar-incomplete",
        own[0]?.line ?? null,
        "An event has no ATTENDEE: Gmail and Outlook show no buttons to those who are not invited.",
      );
  }
  checkZones(properties, (line, message) => add("calendar-incomplete", line, message));
}

/** Checks that each time zone is described, as Outlook needs it. */
function checkZones(properties: readonly CalendarProperty[], report: (line: number, message: string) => void): void {
  const described = new Set(
    properties.filter(({ of, name }) => of === "VCALENDAR/VTIMEZONE" && name === "TZID").map(({ value }) => value.trim()),
  );
  for (const { parameters, line } of properties) {
    const zone = /;TZID="?([^";:]+)/i.exec(parameters)?.[1];
    if (zone === undefined || described.has(zone)) continue;
    described.add(zone);
    report(line, `The time zone ${zone.slice(0, 60)} has no VTIMEZONE.`);
  }
}

function find(properties: readonly CalendarProperty[], wanted: string): CalendarProperty | undefined {
  return properties.find(({ name }) => name === wanted);
}
