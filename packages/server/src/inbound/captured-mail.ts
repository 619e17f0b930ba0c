import type { MessageTexts } from "../emails/deps.ts";
import { ApiError } from "../lib/api-error.ts";
import { concatInTurns } from "../lib/turn.ts";
import { MailNotRead, type MailParser } from "./mail-parser.ts";
import { type CapturedContent, readSmall, UNREAD_CONTENT } from "./read-captured.ts";

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
