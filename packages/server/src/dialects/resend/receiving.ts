import { contract, type ReceivedMail, type ReceivedMailDetail } from "@mailsvc/sdk/contract";
import * as z from "zod";
import { formatMailbox } from "../../lib/address-text.ts";
import { notFound } from "../../lib/api-error.ts";
import { waitForTurn } from "../../lib/turn.ts";
import { MB } from "../../lib/units.ts";
import { toPartUuid } from "../../lib/uuids.ts";
import { readAttachment } from "../../received/received.ts";
import { type Operation, type Reads, readOperation } from "../operation.ts";
import { describeFile, showFile } from "./download-links.ts";
import { answerList, answerPart, listQuery, partQuery } from "./lists.ts";

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

/** The files of sent and received emails. Their ids are made of their places there. */
export const attachmentOperations: readonly Operation[] = [
  readOperation({
    path: "/emails/:id/attachments",
    query: partQuery,
    run: async ({ id, ...query }, calls) => {
      const { attachments } = await calls.read(contract.emails.get, { id });
      return answerPart(query, attachments, (file, i) => showFile(file, { of: "sent", mailId: id, number: i + 1 }, calls));
    },
  }),
  readOperation({
    path: "/emails/:id/attachments/:attachment",
    run: async ({ id, attachment }, calls) => {
      const { attachments } = await calls.read(contract.emails.get, { id });
      const number = attachments.findIndex((_, i) => toPartUuid(id, i + 1) === attachment) + 1;
      const file = attachments[number - 1];
      if (!file) throw notFound("attachment", attachment);
      return { object: "attachment", ...showFile(file, { of: "sent", mailId: id, number }, calls) };
    },
  }),
  readOperation({
    path: "/emails/receiving/:id/attachments",
    query: partQuery,
    run: async ({ id, ...query }, calls) => {
      const { attachments } = await calls.read(contract.received.get, { id });
      return answerPart(query, attachments, (file) => showFile(file, { of: "received", mailId: id, number: file.number }, calls));
    },
  }),
  readOperation({
    path: "/emails/receiving/:id/attachments/:attachment",
    run: async ({ id, attachment }, calls) => {
      const { attachments } = await calls.read(contract.received.get, { id });
      const file = attachments.find(({ number }) => toPartUuid(id, number) === attachment);
      if (!file) throw notFound("attachment", attachment);
      return { object: "attachment", ...showFile(file, { of: "received", mailId: id, number: file.number }, calls) };
    },
  }),
];
