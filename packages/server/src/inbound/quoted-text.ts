import { toPlainText } from "../html/plain-text.ts";

// Words of mail programs in the languages that most of them speak.
const ORIGINAL =
  /^\s*-{2,}\s*(?:original message|forwarded message|ursprüngliche nachricht|weitergeleitete nachricht|message d'origine|message original|mensaje original|mensagem original|messaggio originale|oorspronkelijk bericht|ursprungligt meddelande|oprindelig meddelelse|opprinnelig melding|alkuperäinen viesti|wiadomość oryginalna|původní zpráva|исходное сообщение|原始邮件|元のメッセージ)\s*-{2,}/iu;
const FROM = /^\s*[*_]?(?:from|von|de|da|van|från|fra|lähettäjä|od|от|kimden|发件人|差出人|보낸 사람)\s?[:：]/iu;
const SENT =
  /^\s*[*_]?(?:sent|date|gesendet|datum|envoyé|enviado|fecha|inviato|data|verzonden|skickat|sendt|dato|lähetetty|wysłano|odesláno|отправлено|дата|tarih|发送时间|日期|送信日時|보낸 날짜)\s?[:：]/iu;
const TO =
  /^\s*[*_]?(?:to|an|à|para|a|aan|till|til|vastaanottaja|do|komu|кому|kime|收件人|宛先|받는 사람|subject|betreff|objet|asunto|assunto|oggetto|onderwerp|ämne|emne|aihe|temat|předmět|тема|konu|主题|件名|제목)\s?[:：]/iu;
const OPENS = /^\s*(?:on|am|le|el|em|il|op|den|på|w dniu|dnia|dne|kl\.|vào|pada)\s/iu;
const WROTE =
  /(?:wrote|writes|schrieb|a écrit|escribió|escreveu|ha scritto|schreef|skrev|kirjoitti|napisał(?:\(a\))?|napsal(?:\(a\))?|написал(?:\(а\))?|yazdı)(?=\s|$)/iu;
const ENDS = /[:：]\s*$/;
// A name may stand between the verb and the colon.
const MAX_NAME = 300;
// An address as attributions name it, perhaps broken after the bracket; and a whole date: a year, or day and month in digits.
const NAMED = /[<([（]\s{0,9}(?:mailto:)?[^\s<>()[\]@]+@[^\s<>()[\]@]+\s{0,9}[>)\]）]/u;
const DATED = /(?<!\d)\d{4}(?!\d)|\d{1,2}[./-]\s?\d{1,2}(?!\d)|\d{1,2}月/u;
// "---- On Thu, 15 Jan 2026 Acme <hello@acme.example> wrote ---": Zoho.
const BETWEEN_DASHES = /^\s*-{2,}\s.{5,}\s-{2,}\s*$/u;
// "Ada <ada@example.com> wrote in" and the Message-ID in the next line: S-nail.
const WROTE_IN = /\swrote in\s*$/;
const MESSAGE_ID = /^\s*<[^<>\s@]+@[^<>\s@]+>:\s*$/;
const RULE = /^\s*_{10,}\s*$/;
const FIELD = /^\s*[*_]?[^\s:：][^:：]{0,30}[:：]/u;
const QUOTED = /^\s{0,3}[>|]/;
const BLANK = /^\s*$/;
// Marks of direction, which programs write around addresses and dates.
const MARKS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

// Lines of an attribution such as "On Sat, Jan 31, 2026 at 9:30 AM Ada Lovelace wrote:", which programs wrap.
const ATTRIBUTION_LINES = 4;
// The fields above a mail that Outlook quotes.
const FIELD_LINES = 6;
// The begin of a line decides.
const MAX_LINE = 400;

/**
 * Returns the text of a mail without its quotations: without lines after `>` and the line above them that names their author, in any
 * language; and without everything below the headers that Outlook and others write above the mail they answer. Answers between quoted
 * lines are kept.
 */
export function cutQuotedText(text: string): string {
  const lines = text.split(/\r?\n/);
  const attributions = findAttributions(lines);
  const kept: string[] = [];
  for (let i = 0; i < lines.length; i += 1) {
    const line = lineAt(lines, i);
    if (BLANK.test(line)) {
      kept.push("");
      continue;
    }
    if (ORIGINAL.test(line) || startsFields(lines, i) || startsBetweenDashes(lines, i)) break;
    const end = attributions.get(i);
    if (end !== undefined) {
      i = end;
      continue;
    }
    if (startsUnquoted(lines, i, kept)) break;
    if (!QUOTED.test(line)) kept.push(lines[i] as string);
  }
  return kept.join("\n").trim();
}

// Elements in which mail programs put the mail they answer: Gmail, Outlook, Apple Mail and Thunderbird, Yahoo, Proton.
const QUOTING_HTML =
  /<(?:div|blockquote|section|hr)\b[^<>]{0,500}(?:class\s{0,9}=\s{0,9}["']?[^"'<>]{0,200}\b(?:gmail_quote|gmail_extra|yahoo_quoted|protonmail_quote|moz-cite-prefix|OutlookMessageHeader)|id\s*=\s*["']?(?:divRplyFwdMsg|appendonsend|OLK_SRC_BODY_SECTION|isForwardContent)|type\s*=\s*["']?cite|border-top:\s*solid\s+#(?:E1E1E1|B5C4DF))/i;

/** The same of a mail that has only HTML, whose plain text is given: making it takes a millisecond for 30 kB. */
export function cutQuotedHtml(html: string, text: string): string {
  const at = html.search(QUOTING_HTML);
  const above = cutQuotedText(at === -1 ? text : toPlainText(html.slice(0, at)));
  // Text below the quotation, or between its parts.
  return above === "" && at !== -1 ? cutQuotedText(toPlainText(quoteBlocks(html))) : above;
}

/**
 * Cuts a mail that has both: the text decides, unless it has nothing more than the HTML above the quotation but a line that names the
 * author of the rest.
 */
export function cutQuoted(text: string, html: string | null): string {
  const reply = cutQuotedText(text);
  const at = html === null ? -1 : html.search(QUOTING_HTML);
  if (html === null || at === -1) return reply;
  const above = cutQuotedText(toPlainText(html.slice(0, at)));
  const [written, all] = [above, reply].map((one) => one.split(/\s+/u).filter(Boolean)) as [string[], string[]];
  if (written.length === 0 || !written.every((word, i) => all[i] === word)) return reply;
  const rest = all.slice(written.length).join(" ");
  return rest.length < MAX_LINE && (NAMED.test(rest) || DATED.test(rest)) && ENDS.test(rest) ? above : reply;
}

/** HTML with each quotation in it replaced by one quoted line. */
function quoteBlocks(html: string): string {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (const tag of html.matchAll(/<(\/?)blockquote(?=[\s>])[^<>]{0,2000}>/gi)) {
    if (tag[1] === "" && depth === 0) parts.push(html.slice(from, tag.index), "<p>&gt;</p>");
    depth = Math.max(0, depth + (tag[1] === "" ? 1 : -1));
    if (depth === 0) from = tag.index + tag[0].length;
  }
  return depth === 0 ? parts.join("") + html.slice(from) : parts.join("");
}

/** True if the fields of a quoted mail begin here, perhaps after a rule. People may write such words, but not with an address or a date. */
function startsFields(lines: readonly string[], i: number): boolean {
  const ruled = RULE.test(lineAt(lines, i));
  const first = ruled ? nextWritten(lines, i + 1) : i;
  const opening = lineAt(lines, first);
  if (!FIELD.test(opening)) return false;
  const fields = lines.slice(first, first + 1 + FIELD_LINES).map((line) => line.slice(0, MAX_LINE));
  if (!fields.some((line) => NAMED.test(line) || line.includes("@") || DATED.test(line))) return false;
  if (ruled && fields.filter((line) => FIELD.test(line)).length >= 4) return true;
  if (!FROM.test(opening) && !SENT.test(opening)) return false;
  return [FROM, SENT, TO].every((kind) => fields.some((line) => kind.test(line)));
}

/** True if a line between dashes names the author of all that follows, or stands above the fields of a quoted mail. */
function startsBetweenDashes(lines: readonly string[], i: number): boolean {
  const line = lineAt(lines, i);
  if (BETWEEN_DASHES.test(line)) return (NAMED.test(line) && /\d/.test(line)) || startsFields(lines, i + 1);
  return /^\s*-{3,}[^-]{3,60}-{3,}\s*$/u.test(line) && startsFields(lines, nextWritten(lines, i + 1));
}

/**
 * Finds the attributions above quoted lines, as the numbers of their first and last lines: up to four lines with an address or a verb of
 * writing, and a date, that end with a colon. This works in any language: nothing else is written there.
 */
function findAttributions(lines: readonly string[]): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  let written = -1;
  for (let i = 0; i < lines.length; i += 1) {
    const line = lineAt(lines, i);
    if (BLANK.test(line)) continue;
    if (QUOTED.test(line)) {
      const start = written === -1 ? null : findStart(lines, written);
      if (start !== null) found.set(start, written);
      written = -1;
    } else written = i;
  }
  return found;
}

/** The first line of the attribution that ends here; null if none does. */
function findStart(lines: readonly string[], end: number): number | null {
  if (MESSAGE_ID.test(lineAt(lines, end))) return WROTE_IN.test(lineAt(lines, end - 1)) ? end - 1 : null;
  let joined = "";
  if (!ENDS.test(lineAt(lines, end))) return null;
  for (let at = end; at > end - ATTRIBUTION_LINES && at >= 0; at -= 1) {
    const line = lineAt(lines, at);
    if (BLANK.test(line) || QUOTED.test(line)) break;
    joined = `${line.trim()} ${joined}`;
    const around = joined.replace(NAMED, " ");
    const names = NAMED.test(joined) || WROTE.test(joined.slice(-MAX_NAME).replace(ENDS, ""));
    const opened = OPENS.test(joined);
    if (names && DATED.test(around) && (opened || !continuesAbove(lines, at))) return at;
    if (names && opened && /\d/.test(around)) return at;
  }
  // Without a date: BSD Mail, mailx, Gnus.
  const last = lineAt(lines, end);
  return NAMED.test(last) || (OPENS.test(last) && endsAttribution(last) && /\d/.test(last)) ? end : null;
}

/** True if the line above belongs to the same attribution: it has the rest of the date, or an opening that programs write. */
function continuesAbove(lines: readonly string[], at: number): boolean {
  const above = lineAt(lines, at - 1);
  return at > 0 && !BLANK.test(above) && !QUOTED.test(above) && OPENS.test(above) && /\d/.test(above) && !/[.!?…。]\s*$/u.test(above);
}

/**
 * True if a mail that is quoted without `>` begins here, after a line that names its author: Yahoo and others. The line has the address
 * and a date; or a whole date, if there is text above it. A person may begin with such a line.
 */
function startsUnquoted(lines: readonly string[], i: number, kept: readonly string[]): boolean {
  const first = lineAt(lines, i);
  if (!OPENS.test(first) && !(NAMED.test(first) && DATED.test(first.replace(NAMED, " ")))) return false;
  let joined = "";
  for (let at = i; at < Math.min(i + ATTRIBUTION_LINES, lines.length); at += 1) {
    const next = lineAt(lines, at);
    if (BLANK.test(next) || QUOTED.test(next)) return false;
    joined += ` ${next.trim()}`;
    if (!ENDS.test(joined)) continue;
    const around = joined.replace(NAMED, " ");
    const named = NAMED.test(joined);
    if (OPENS.test(first) && !endsAttribution(joined) && !named) return false;
    return named ? DATED.test(around) : DATED.test(around) && kept.some((line) => !BLANK.test(line));
  }
  return false;
}

/** True if a text ends with "wrote:", perhaps with a name between the verb and the colon. */
function endsAttribution(text: string): boolean {
  const trimmed = text.trimEnd();
  return ENDS.test(trimmed) && WROTE.test(trimmed.slice(-MAX_NAME, -1));
}

/** The number of the next line that is not blank. */
function nextWritten(lines: readonly string[], from: number): number {
  let at = from;
  while (at < lines.length && BLANK.test(lineAt(lines, at))) at += 1;
  return at;
}

function lineAt(lines: readonly string[], i: number): string {
  return (lines[i] ?? "").slice(0, MAX_LINE).replace(MARKS, "");
}
