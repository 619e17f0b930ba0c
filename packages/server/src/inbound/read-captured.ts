import type { Email } from "postal-mime";
import type { MessageTexts } from "../emails/deps.ts";
import { listCodes, listLinks } from "../html/links.ts";
import { toPlainText } from "../html/plain-text.ts";
import { ApiError } from "../lib/api-error.ts";
import { concatInTurns } from "../lib/turn.ts";
import { takeStart } from "../mail/mail-start.ts";
import { cutBase64 } from "./cut-base64.ts";
import type { MailParser } from "./mail-parser.ts";
import { MailNotRead } from "./mail-thread.ts";
import { parseMime } from "./parse-mime.ts";
import { READ_LIMITS, toBytes } from "./read-mail.ts";

/** A file of a captured mail. */
export interface CapturedFile {
  readonly filename: string;
  readonly contentType: string;
  readonly contentId: string | null;
  readonly content: Uint8Array<ArrayBuffer>;
}

/** Content of a captured mail. */
export interface CapturedContent {
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  /** The addresses of Reply-To, null without one. */
  readonly replyTo: readonly string[] | null;
  readonly html: string | null;
  readonly text: string | null;
  readonly links: readonly string[];
  readonly codes: readonly string[];
  readonly files: readonly CapturedFile[];
  /** Text of the calendar among the alternatives; null without one. */
  readonly calendar: string | null;
  /** True when it was not read to its end. */
  readonly truncated: boolean;
}

/** Content of a mail that cannot be read at all. */
const UNREAD_CONTENT: CapturedContent = {
  ...{ headers: [], replyTo: null, html: null, text: null, links: [], codes: [], files: [], calendar: null },
  truncated: true,
};

type Limits = Readonly<Record<"bytes" | "lines" | "boundaries" | "headerBytes" | "levels", number>>;

// Read on the event loop in 10 ms at most, and mostly in one. Nearly all mail is within these limits, and needs no thread.
const SMALL: Limits = { bytes: 64 * 1024, lines: 1000, boundaries: 20, headerBytes: 8 * 1024, levels: 8 };

/** Reads a small mail; null for one that is not small in each regard. Never throws for what a mail contains. */
async function readSmall(raw: Uint8Array): Promise<CapturedContent | null> {
  if (takeStart(raw, SMALL).length < raw.length) return null;
  const mail = await parse(raw, SMALL);
  return mail && toContent(mail, false);
}

/**
 * Reads any mail, as far as it is within the limits for received mail; of one that cannot be read the headers, or nothing. It may take
 * seconds: the server calls it on the thread of `MailParser`. Never throws for what a mail contains.
 */
export async function readLarge(raw: Uint8Array): Promise<CapturedContent> {
  const { skeleton, restore } = cutBase64(raw);
  const start = takeStart(skeleton, READ_LIMITS);
  const mail = await parse(start, READ_LIMITS);
  if (mail !== null) return toContent(mail, start.length < skeleton.length, restore);
  const head = await parse(takeHead(start), READ_LIMITS);
  return head === null ? UNREAD_CONTENT : { ...UNREAD_CONTENT, headers: listHeaders(head) };
}

/** Null for a mail with more parts within parts, or more headers, than the limits allow. */
async function parse(raw: Uint8Array, limits: Limits): Promise<Email | null> {
  try {
    return await parseMime(raw, limits);
  } catch {
    return null;
  }
}

function takeHead(mail: Uint8Array): Uint8Array {
  const bytes = Buffer.from(mail.buffer, mail.byteOffset, mail.byteLength);
  const ends = ["\n\r\n", "\n\n"].map((end) => bytes.indexOf(end)).filter((at) => at !== -1);
  return ends.length === 0 ? mail : mail.subarray(0, Math.min(...ends) + 1);
}

function toContent(
  mail: Email,
  truncated: boolean,
  restore: (content: Uint8Array) => Uint8Array<ArrayBuffer> | undefined = () => undefined,
): CapturedContent {
  const { html = null, text = null, subject = "" } = mail;
  const replyTo = (mail.replyTo ?? []).flatMap((one) => one.group ?? [one]).flatMap(({ address }) => address || []);
  return {
    headers: listHeaders(mail),
    replyTo: replyTo.length > 0 ? replyTo : null,
    html,
    text,
    links: listLinks(html ?? "", text ?? ""),
    codes: listCodes(text ?? "", toPlainText(html ?? ""), subject),
    ...toFiles(mail.attachments, restore),
    truncated,
  };
}

const CALENDAR_FILE = /^(?:text\/calendar|application\/ics)$/;

/** The bytes of a calendar without what the ways of encoding it change. */
function toLines({ content }: Pick<CapturedFile, "content">): string {
  return Buffer.from(content).toString("latin1").replaceAll("\r", "").trimEnd();
}

/** The files of a mail, and its invitation: a calendar without a Content-Disposition, which counts as a file only if it is not one as well. */
function toFiles(
  parts: Email["attachments"],
  restore: (content: Uint8Array) => Uint8Array<ArrayBuffer> | undefined,
): Pick<CapturedContent, "files" | "calendar"> {
  const read = parts.map(({ filename, mimeType, contentId, content, disposition }) => {
    const bytes = toBytes(content);
    const isAlternative = mimeType === "text/calendar" && disposition !== "attachment" && !contentId;
    return {
      isAlternative,
      filename: filename || (isAlternative ? "invite.ics" : ""),
      contentType: mimeType,
      contentId: contentId?.replace(/^<|>$/g, "") ?? null,
      content: restore(bytes) ?? bytes,
    };
  });
  const calendar = read.find(({ isAlternative }) => isAlternative);
  const isFileToo =
    calendar && read.some((one) => one !== calendar && CALENDAR_FILE.test(one.contentType) && toLines(one) === toLines(calendar));
  const files = read.filter((one) => one !== calendar || !isFileToo);
  return {
    files: files.map(({ isAlternative: _, ...file }) => file),
    calendar: calendar ? new TextDecoder().decode(calendar.content) : null,
  };
}

function listHeaders({ headers }: Email): CapturedContent["headers"] {
  return headers.map(({ originalKey, value }) => ({ name: originalKey, value }));
}

/**
 * Reads a mail that was captured or submitted: a small one at once, a larger one on the parser's thread, because it may be hostile.
 * `truncated` says that it was too large or too deep to be read whole. Throws ApiError rate_limited while too many mails wait.
 */
export async function readCapturedMail(parser: Pick<MailParser, "readCaptured">, raw: Uint8Array): Promise<CapturedContent> {
  const small = await readSmall(raw);
  if (small !== null) return small;
  try {
    // A copy, which goes over to the thread as it is.
    return await parser.readCaptured(await concatInTurns([raw]));
  } catch (error) {
    if (!(error instanceof MailNotRead)) throw error;
    if (error.isLasting) return UNREAD_CONTENT;
    throw new ApiError("rate_limited", "Too many large mails are being read at this moment.", {
      headers: { "retry-after": "5" },
      hint: "Try again in a few seconds.",
    });
  }
}

/** The texts of a message that is sent as it was submitted. Throws ApiError rate_limited as `readCapturedMail` does. */
export async function readMessageTexts(parser: Pick<MailParser, "readCaptured">, message: Uint8Array): Promise<MessageTexts> {
  const { html, text, truncated } = await readCapturedMail(parser, message);
  return { html, text, truncated };
}
