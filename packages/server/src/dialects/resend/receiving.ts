import { contract, type ReceivedMail, type ReceivedMailDetail } from "@mailsvc/sdk/contract";
import * as z from "zod";
import { formatMailbox } from "../../lib/address-text.ts";
import { waitForTurn } from "../../lib/turn.ts";
import { MB } from "../../lib/units.ts";
import { readAttachment } from "../../received/received.ts";
import { type Operation, type Reads, readOperation } from "../operation.ts";
import { describeFile } from "./download-links.ts";
import { answerList, listQuery } from "./lists.ts";

export const receivingOperations: readonly Operation[] = [
  readOperation({
    path: "/emails/receiving",
    note: "a list does not name the attachments; cc and bcc are in the headers",
    query: listQuery,
    run: (query, { read }) =>
      answerList(
        query,
        (page) => read(contract.received.list, page),
        (mail) => ({ ...showMail(mail), attachments: [] }),
      ),
  }),
  readOperation({
    path: "/emails/receiving/:id",
    note: "cc and bcc are in the headers",
    query: z.object({ html_format: z.enum(["data_uri", "cid"]).default("data_uri") }),
    run: async ({ id, html_format }, calls) => {
      const mail = await calls.read(contract.received.get, { id });
      return {
        object: "email",
        ...showMail(mail),
        reply_to: mail.replyTo.length === 0 ? null : mail.replyTo,
        html: html_format === "cid" ? mail.html : await inlineImages(mail, calls),
        text: mail.text,
        headers: Object.fromEntries(mail.headers.map(({ name, value }) => [name.toLowerCase(), value])),
        attachments: mail.attachments.map((file) => describeFile(file, { mailId: id, number: file.number })),
      };
    },
  }),
];

// Images beyond this many bytes, counted in each place where they are shown, stay files of their own.
const MAX_INLINE = 10 * MB;
const IMAGE_TYPE = /^image\/[\w.+-]+$/;

// References to files in HTML.
const CONTENT_ID = /cid:([^"'\s)>&]{1,500})/g;

/** The HTML with its images in it, which it names by the Content-ID of their files. Files that it does not name are not read. */
async function inlineImages({ id, html, attachments }: ReceivedMailDetail, { rows, workspaceId }: Reads): Promise<string | null> {
  if (html === null) return null;
  const named = new Map<string, number>();
  for (const [, contentId = ""] of html.matchAll(CONTENT_ID)) named.set(contentId, (named.get(contentId) ?? 0) + 1);
  const images = new Map<string, string>();
  let left = MAX_INLINE;
  for (const { number, contentType, contentId, size } of attachments) {
    const bytes = size * (named.get(contentId ?? "") ?? 0);
    if (contentId === null || images.has(contentId) || !IMAGE_TYPE.test(contentType) || bytes === 0 || bytes > left) continue;
    left -= bytes;
    const image = Buffer.from(await readAttachment(rows, workspaceId, id, String(number))).toString("base64");
    images.set(contentId, `data:${contentType};base64,${image}`);
    await waitForTurn();
  }
  return images.size === 0 ? html : html.replace(CONTENT_ID, (all, contentId: string) => images.get(contentId) ?? all);
}

function showMail({ id, to, from, fromName, subject, messageId, receivedAt }: ReceivedMail) {
  return {
    id,
    to: [to],
    from: from === null ? "" : formatMailbox(from, fromName),
    subject,
    message_id: messageId ?? "",
    received_for: [to],
    created_at: receivedAt,
    cc: null,
    bcc: null,
    reply_to: null as string[] | null,
  };
}
