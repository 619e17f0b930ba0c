import {
  DETAIL,
  EMAIL_WORD,
  EMPTY_WORDS,
  ENGAGEMENT,
  IN_NAMES,
  IN_STEMS,
  IN_WORDS,
  NEGATED,
  NEGATIONS,
  NO_WORDS,
  NOT_A_VALUE,
  OTHER_CHANNELS,
  OTHER_MATTERS,
  OUT_STEMS,
  OUT_WORDS,
  PLAIN_OUT_WORDS,
  REVOKED_STEMS,
  STATUS_OF_MAIL,
  STATUS_WORD,
  UNCLEAR_NAMES,
  UNCLEAR_STEMS,
  YES_WORDS,
} from "./consent-words.ts";
import { normalizeName, splitWords } from "./names.ts";

/**
 * The meaning of a column about consent. `opt-out`: a yes or a time is a no to mail. `opt-out-detail`: any text is, such as a reason.
 * `opt-in`: a no is a no, and an empty cell says that nobody agreed. `status`: the state of a subscription.
 */
const CONSENT_KINDS = ["opt-out", "opt-out-detail", "opt-in", "status"] as const;
export type ConsentKind = (typeof CONSENT_KINDS)[number];

/** Meaning of one cell: the person wants mail, refuses it, or never agreed; null for an empty one. */
export type Consent = "in" | "out" | "absent" | null;

/**
 * The meaning of a column by its name. `unclear` for one that may be about consent, `other` for one about another way to reach a person or
 * another matter, and null for all others.
 */
export function readConsentName(name: string): ConsentKind | "unclear" | "other" | null {
  const words = splitWords(name);
  const compact = words.join("");
  const has = (text: string, parts: readonly string[], stem: string): boolean =>
    text.startsWith(stem) || parts.some((part, i) => part.includes(stem) || parts.slice(i).join("").startsWith(stem));
  if (compact === "") return null;
  if (isAboutOthers(words, compact)) return "other";
  if (compact === "status") return "status";
  const outs = OUT_STEMS.filter((stem) => has(compact, words, stem));
  const restWords = words.map((word) => outs.reduce((left, stem) => left.replace(stem, ""), word));
  const rest = outs.reduce((left, stem) => left.replace(stem, ""), compact);
  const isRevoked = REVOKED_STEMS.some((stem) => has(rest, restWords, stem));
  const stems = IN_STEMS.filter((stem) => has(rest, restWords, stem));
  const isIn = stems.length > 0 || IN_NAMES.has(compact);
  const isDetail = words.some((word) => DETAIL.test(word));
  if (outs.length > 0) {
    if (isIn && !isRevoked) return "unclear";
    if (
      words.some(
        (word, i) =>
          NEGATIONS.has(word) &&
          outs.some((stem) =>
            words
              .slice(i + 1)
              .join("")
              .startsWith(stem),
          ),
      )
    )
      return "unclear";
    return isDetail ? "opt-out-detail" : "opt-out";
  }
  const isUnclear = UNCLEAR_NAMES.has(compact) || UNCLEAR_STEMS.some((stem) => has(compact, words, stem));
  if (isRevoked && (isIn || isUnclear || EMAIL_WORD.test(compact))) return isDetail ? "opt-out-detail" : "opt-out";
  if (isIn) {
    if (isDetail) return null;
    return words.some((word) => NEGATIONS.has(word) || isNegatedStem(word, stems)) || NEGATED.test(compact) ? "opt-out" : "opt-in";
  }
  if (STATUS_WORD.test(words.join(" ")) && words.some((word) => STATUS_OF_MAIL.test(word))) return "opt-in";
  if (words.some((word) => ENGAGEMENT.test(word))) return null;
  return isUnclear ? "unclear" : null;
}

/** Reads a cell of a column about consent. Undefined for one that says neither yes nor no. */
export function readConsent(kind: ConsentKind, cell: string): Consent | undefined {
  const absent = kind === "opt-in" ? "absent" : null;
  const text = cell.trim().replace(/^[[{("']+|[\])}"']+$/g, "");
  const word = normalizeName(text) || text.trim();
  if (isEmpty(text, word)) return absent;
  if (kind === "opt-out-detail") return isNo(word, text) ? null : "out";
  const isOut = kind === "opt-out";
  if (PLAIN_OUT_WORDS.has(word)) return "out";
  if (isOut && /^(?:disabled|inactive|never|notset|pending|waiting|expired)$/.test(word)) return undefined;
  if (OUT_WORDS.has(word)) return "out";
  if (IN_WORDS.has(word)) return !isOut ? "in" : /^(?:allow|optin|optedin|.*subscribe|marketingcontact)/.test(word) ? null : "out";
  if (isYes(word, text) || isTime(text)) return isOut ? "out" : "in";
  if (isNo(word, text)) return isOut ? null : "out";
  return readSentence(text, word, isOut);
}

/** True if a cell of any column plainly refuses mail. */
export function isPlainOptOut(cell: string): boolean {
  return cell.length <= 60 && PLAIN_OUT_WORDS.has(normalizeName(cell));
}

/** True if a cell looks like an answer about consent: yes, no, a time, or the state of a subscription. */
export function looksLikeConsent(cell: string): boolean {
  const text = cell.trim();
  const word = normalizeName(text) || text;
  if (text.length > 60 || isEmpty(text, word)) return false;
  return isYes(word, text) || isNo(word, text) || isTime(text) || OUT_WORDS.has(word) || IN_WORDS.has(word);
}

function isAboutOthers(words: readonly string[], compact: string): boolean {
  if (words.some((word) => OTHER_MATTERS.test(word) || NOT_A_VALUE.test(word))) return true;
  return (
    !EMAIL_WORD.test(compact) &&
    (words.some((word) => OTHER_CHANNELS.test(word)) || /sms|whatsapp|viber|phone|telefax|faxopt|ofax/.test(compact))
  );
}

/** `nonsubscribed`, `unconsented`: a word that begins with its own negation. */
function isNegatedStem(word: string, stems: readonly string[]): boolean {
  return stems.some((stem) => ["non", "not", "no", "un", "never", "nicht"].some((prefix) => word.startsWith(prefix + stem)));
}

function isEmpty(text: string, word: string): boolean {
  if (/^[\s\-–—./\\?]*$/.test(text) || EMPTY_WORDS.has(word)) return true;
  // The times that databases write for none.
  return /^0{2,4}[-/.]00?[-/.]0{1,4}|^1970-01-01|^0001-01-01|^1\/0\/1900/.test(text);
}

function isYes(word: string, text: string): boolean {
  return YES_WORDS.has(word) || /^1[.,]0+$/.test(text);
}

function isNo(word: string, text: string): boolean {
  return NO_WORDS.has(word) || /^0+[.,]0+$/.test(text);
}

/** A date or a time as programs write them: with a year, in numbers, or as seconds since 1970 or days of a spreadsheet. */
function isTime(text: string): boolean {
  if (text.length > 60) return false;
  return (
    (/\p{L}{3}.*(?:19|20)\d\d/u.test(text) && !Number.isNaN(Date.parse(text))) ||
    /^\d{1,4}[-/.年]\s?\d{1,2}[-/.月]\s?\d{1,4}日?\.?(?:\D|$)/.test(text) ||
    /^(?=.*\p{L}{3})(?=.*\d)[\p{L}.,]{0,12}[\s,.]*\d.*(?:19|20)\d\d/u.test(text) ||
    /^\p{L}{3,12}\.?\s+\d{1,2},?\s+(?:19|20)\d\d/u.test(text) ||
    /^(?:19|20)\d{2}(?:0\d|1[0-2])(?:[0-2]\d|3[01])(?:\D?\d{4,6})?Z?$/.test(text) ||
    /^1\d{9}(?:\d{3})?(?:\.\d+)?$/.test(text) ||
    /^[2-5]\d{4}(?:[.,]\d+)?$/.test(text)
  );
}

/** A longer answer: `Yes, please`, `Opted out on 3 May`, or the ways by which somebody may be reached: `email, sms`. */
function readSentence(text: string, word: string, isOut: boolean): Consent | undefined {
  const [first = "", second = ""] = splitWords(text);
  for (const plain of PLAIN_OUT_WORDS) if (plain.length > 6 && word.startsWith(plain)) return "out";
  if (/^(?:subscribed|optedin|optin)/.test(word)) return isOut ? null : "in";
  if (first.length > 1 && YES_WORDS.has(first)) return isOut ? "out" : "in";
  if (first.length > 1 && NO_WORDS.has(first)) return isOut ? null : "out";
  const parts = text.split(/[,;|+&]/).map(normalizeName);
  const isChannel = (part: string): boolean => /^(?:e?mails?|emailmarketing|newsletter)$/.test(part);
  if (!isOut && second !== "" && parts.length > 1 && parts.every((part) => isChannel(part) || OTHER_CHANNELS.test(part) || part === "web"))
    return parts.some(isChannel) ? "in" : "out";
  if (isChannel(word)) return isOut ? "out" : "in";
  return !isOut && OTHER_CHANNELS.test(word) ? "out" : undefined;
}
