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
const ENDS = /[:：]$/;
// A name may stand between the verb and the colon.
const MAX_NAME = 300;
// "2026年1月31日(土) 9:30 Ada <ada@example.com>:", and the same of programs that name no verb.
const DATED = /^\s*(?:\d{4}[年./-]|\d{1,2}[./]\s?\d{1,2}[./]\s?\d{2,4})[^<>]{0,120}<[^<>\s@]+@[^<>\s@]+>.{0,20}[:：]\s*$/u;
// "Ada <ada@example.com> wrote:", without a date: BSD Mail, mailx, Gnus.
const NAMED = /<[^<>\s@]+@[^<>\s@]+>/;
// "Ada <ada@example.com> wrote in" and the Message-ID in the next line: S-nail.
const WROTE_IN = /\swrote in\s*$/;
const MESSAGE_ID = /^\s*<[^<>\s@]+@[^<>\s@]+>:\s*$/;
const RULE = /^\s*_{10,}\s*$/;
const QUOTED = /^\s{0,3}[>|]/;
const BLANK = /^\s*$/;

// Lines of an attribution such as "On Sat, Jan 31, 2026 at 9:30 AM Ada Lovelace wrote:", which programs wrap.
const ATTRIBUTION_LINES = 4;
// The fields above a mail that Outlook quotes.
const FIELD_LINES = 6;
// What decides is at the begin of a line.
const MAX_LINE = 400;

/**
 * The text of a mail without what it quotes: without lines after `>`, and without everything after what mail programs write above the mail
 * they answer, in English, German, French and a dozen other languages. Answers between quoted lines are kept.
 */
export function cutQuotedText(text: string): string {
  const lines = text.split(/\r?\n/);
  const kept: string[] = [];
  for (let i = 0; i < lines.length; i += 1) {
    const line = lineAt(lines, i);
    if (ORIGINAL.test(line) || startsFields(lines, i)) break;
    const after = skipAttribution(lines, i);
    if (after !== null) {
      // Without quoted lines after it, all of the rest is the quoted mail.
      if (!QUOTED.test(lineAt(lines, nextWritten(lines, after)))) break;
      i = after - 1;
    } else if (!QUOTED.test(line)) kept.push(lines[i] as string);
  }
  return kept.join("\n").trim();
}

// Elements in which mail programs put the mail they answer: Gmail, Outlook, Apple Mail and Thunderbird, Yahoo, Proton.
const QUOTING_HTML =
  /<(?:div|blockquote|section|hr)\b[^<>]{0,500}(?:class\s{0,9}=\s{0,9}["']?[^"'<>]{0,200}\b(?:gmail_quote|gmail_extra|yahoo_quoted|protonmail_quote|moz-cite-prefix|OutlookMessageHeader)|id\s*=\s*["']?(?:divRplyFwdMsg|appendonsend|OLK_SRC_BODY_SECTION|isForwardContent)|type\s*=\s*["']?cite|border-top:\s*solid\s+#(?:E1E1E1|B5C4DF))/i;

/** The same of a mail that has only HTML, whose plain text is given: making it takes a millisecond for 30 kB. */
export function cutQuotedHtml(html: string, text: string): string {
  const at = html.search(QUOTING_HTML);
  return cutQuotedText(at === -1 ? text : toPlainText(html.slice(0, at)));
}

/** Whether the fields of a quoted mail begin here, perhaps after a rule. */
function startsFields(lines: readonly string[], i: number): boolean {
  const first = RULE.test(lineAt(lines, i)) ? nextWritten(lines, i + 1) : i;
  if (!FROM.test(lineAt(lines, first))) return false;
  const fields = lines.slice(first + 1, first + 1 + FIELD_LINES).map((line) => line.slice(0, MAX_LINE));
  return fields.some((line) => SENT.test(line)) && fields.some((line) => TO.test(line));
}

/** The line after an attribution that begins here; null if none does. */
function skipAttribution(lines: readonly string[], i: number): number | null {
  const line = lineAt(lines, i);
  if (DATED.test(line)) return i + 1;
  if (!OPENS.test(line)) return skipUndated(lines, i);
  let joined = "";
  for (let at = i; at < Math.min(i + ATTRIBUTION_LINES, lines.length); at += 1) {
    const next = lineAt(lines, at);
    if (BLANK.test(next) || QUOTED.test(next)) return null;
    joined += ` ${next.trim()}`;
    // A sentence of a person has no date or address before its "wrote:".
    if (endsAttribution(joined)) return /\d|@/.test(joined) ? at + 1 : null;
  }
  return null;
}

/** The line after an attribution without a date; null if none begins here. A person may write such a line, so quoted lines must follow. */
function skipUndated(lines: readonly string[], i: number): number | null {
  const line = lineAt(lines, i);
  if (QUOTED.test(line)) return null;
  const ends = NAMED.test(line) && endsAttribution(line) ? i : WROTE_IN.test(line) && MESSAGE_ID.test(lineAt(lines, i + 1)) ? i + 1 : null;
  return ends !== null && QUOTED.test(lineAt(lines, nextWritten(lines, ends + 1))) ? ends + 1 : null;
}

/** Whether a text ends with "wrote:", perhaps with a name between the verb and the colon. */
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
  return (lines[i] ?? "").slice(0, MAX_LINE);
}
