import type { Reader } from "../db/db.ts";
import { getMessage } from "./attachments.ts";
import type { MessageReading, MessageTexts } from "./deps.ts";
import type { ContentsRow } from "./store.ts";

/** The texts of a mail; those of a message that goes out as it came in are read from it. Throws ApiError as `MessageReading` does. */
export async function readTexts(read: Reader, deps: MessageReading, contents: ContentsRow): Promise<MessageTexts> {
  if (contents.asIs !== true) return { html: contents.html, text: contents.text, truncated: false };
  return deps.readMessage(await getMessage(read, contents));
}
