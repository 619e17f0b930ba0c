import { readCalendar, type SendRequest } from "@mailsvc/sdk/contract";
import { eq } from "drizzle-orm";
import type { z } from "zod";
import type { Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { invalid } from "../lib/api-error.ts";
import { joinParts, splitIntoParts } from "../lib/parts.ts";
import { CHUNK_BYTES, waitForTurn } from "../lib/turn.ts";
import { formatCalendar } from "../mail/calendar-lines.ts";
import { detectMediaType } from "../mail/mime.ts";
import type { ContentsRow } from "./store.ts";
import type { EmailTables } from "./tables.ts";

type AttachmentRow = EmailTables["attachments"]["$inferSelect"];
type Invitation = NonNullable<z.output<typeof SendRequest>["icalEvent"]>;
export type DecodedAttachments = Omit<AttachmentRow, "contentsId" | "position">[];

/**
 * Decodes the files of a request before its transaction begins, because 20 MB of base64 take their time. An invitation is the first of
 * them. Throws ApiError validation_error for a content that is no base64.
 */
export async function decodeAttachments({
  attachments = [],
  icalEvent,
}: Pick<z.output<typeof SendRequest>, "attachments" | "icalEvent">): Promise<DecodedAttachments> {
  const decoded: DecodedAttachments = icalEvent ? [toInvitation(icalEvent)] : [];
  for (const [i, { filename, content, contentType, contentId }] of attachments.entries()) {
    const bytes = await decodeBase64(content);
    if (bytes === null) {
      const path = `attachments[${i}].content`;
      throw invalid(path, "invalid_format", `${path} must be base64 (RFC 4648, padded, without line breaks).`);
    }
    decoded.push({
      filename,
      contentType: contentType ?? (await detectMediaType(filename)),
      contentId: contentId ?? null,
      size: bytes.length,
      content: bytes,
    });
  }
  return decoded;
}

function toInvitation({ method, content, filename = "invite.ics" }: Invitation): DecodedAttachments[number] {
  const bytes = Buffer.from(formatCalendar(content));
  const contentType = `text/calendar; charset=utf-8; method=${method ?? readCalendar(content).method}`;
  return { filename, contentType, contentId: null, size: bytes.length, content: bytes };
}

/** The files of contents. */
interface NewAttachments {
  readonly contentsId: number;
  readonly files: DecodedAttachments;
}

/** Inserts the attachments of contents, large ones in parts. */
export async function insertAttachments(tx: Tx, all: readonly NewAttachments[]): Promise<void> {
  const split = all.flatMap(({ contentsId, files }) =>
    files.map((file, position) => ({ file, contentsId, position, ...splitIntoParts(file.content) })),
  );
  if (split.length === 0) return;
  await tx.insertAll(
    tx.t.attachments,
    split.map(({ file, contentsId, position, first }) => ({ ...file, contentsId, position, content: first })),
  );
  await tx.insertAll(
    tx.t.attachmentParts,
    split.flatMap(({ contentsId, position, others }) => others.map((content, i) => ({ contentsId, position, part: i + 1, content }))),
  );
}

/** The attachments of contents in their order, whole. */
export async function findAttachments(read: Reader, { id, filesOf }: Pick<ContentsRow, "id" | "filesOf">): Promise<AttachmentRow[]> {
  const { attachments } = read.t;
  const rows = await read
    .select()
    .from(attachments)
    .where(eq(attachments.contentsId, filesOf ?? id))
    .orderBy(attachments.position);
  const files: AttachmentRow[] = [];
  for (const row of rows)
    files.push({ ...row, content: await joinAttachment(read, row, { contentsId: row.contentsId, position: row.position }) });
  return files;
}

/** The message of contents that go out as they came in. One is read for each such mail, so the statement is prepared. */
export async function getMessage(read: Reader, { id, filesOf }: Pick<ContentsRow, "id" | "filesOf">): Promise<Uint8Array> {
  const [message] = await read
    .prepared("find_message", (build, { attachments }, arg) =>
      build
        .select({ content: attachments.content, size: attachments.size })
        .from(attachments)
        .where(eq(attachments.contentsId, arg("contentsId"))),
    )
    .execute({ contentsId: filesOf ?? id });
  if (!message) throw new Error("The message was deleted meanwhile.");
  return joinAttachment(read, message, { contentsId: filesOf ?? id, position: 0 });
}

/** All bytes of an attachment, of whose row the first part is read. */
function joinAttachment(
  read: Reader,
  { content, size }: Pick<AttachmentRow, "content" | "size">,
  key: Pick<AttachmentRow, "contentsId" | "position">,
): Promise<Uint8Array> {
  return joinParts(content, size, async (part) => {
    const [found] = await findRows(read, read.t.attachmentParts, { ...key, part });
    if (!found) throw new Error("The attachment was deleted meanwhile.");
    return found.content;
  });
}

/** Decodes base64 a megabyte at a time; null when it is invalid. */
async function decodeBase64(text: string): Promise<Uint8Array | null> {
  if (text.length % 4 !== 0) return null;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const bytes = Buffer.allocUnsafeSlow((text.length / 4) * 3 - padding);
  let end = 0;
  for (let at = 0; at < text.length; at += CHUNK_BYTES) {
    if (at > 0) await waitForTurn();
    const piece = text.slice(at, at + CHUNK_BYTES);
    // Node reads the digits of URLs as well, and skips what is no digit: bytes are missing then.
    if (piece.includes("-") || piece.includes("_")) return null;
    end += bytes.write(piece, end, "base64");
  }
  return end === bytes.length ? bytes : null;
}
