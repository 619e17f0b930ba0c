import type { MailDocument } from "./document.ts";
import type { Findings } from "./findings.ts";

const MAX_SUBJECT = 70;

// Phrases, not words: "free" alone stands in every second honest mail.
const SPAM =
  /\b(?:act now|100% free|free money|risk[- ]free|double your (?:income|money)|earn (?:extra )?(?:cash|money)|cash bonus|no obligation|you(?:'ve| have) (?:been selected|won)|claim your prize|this is not spam|dear friend|lose weight fast|miracle cure|limited time offer|once in a lifetime|guaranteed income|work from home|click here now|buy now!|viagra)\b/gi;

/** Checks the subject. */
export function checkSubject(subject: string, findings: Findings): void {
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
export function checkWords(document: MailDocument | null, text: string | null, findings: Findings): void {
  if (document) for (const piece of document.texts) findSpam(piece.text, piece.offset, "html", findings);
  if (text !== null) findSpam(text, 0, "text", findings);
}

/** Checks that a marketing mail can be unsubscribed from. */
export function checkUnsubscribe(document: MailDocument, findings: Findings): void {
  const hasLink =
    document.elements.some(({ name, attributes }) => name === "a" && /unsubscribe|opt-?out/i.test(attributes.get("href") ?? "")) ||
    document.texts.some(({ text }) => /\bunsubscribe\b/i.test(text));
  if (!hasLink) findings.add("unsubscribe-missing", "html", null, "There is no unsubscribe link.");
}

function findSpam(text: string, offset: number, part: "subject" | "html" | "text", findings: Findings): void {
  for (const { 0: phrase, index } of text.matchAll(SPAM)) findings.add("spam-words", part, offset + index, `“${phrase}” reads like spam.`);
}
