import { contract, type ReceivedMail } from "@mailsvc/sdk/contract";
import { formatMailbox } from "../../lib/mailbox-text.ts";
import { type Operation, readOperation } from "../operation.ts";
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
    run: async ({ id }, { read }) => {
      const mail = await read(contract.received.get, { id });
      return {
        object: "email",
        ...showMail(mail),
        reply_to: mail.replyTo.length === 0 ? null : mail.replyTo,
        html: mail.html,
        text: mail.text,
        headers: Object.fromEntries(mail.headers.map(({ name, value }) => [name.toLowerCase(), value])),
        attachments: mail.attachments.map((file) => describeFile(file, file.number)),
      };
    },
  }),
];

function showMail({ id, to, from, fromName, subject, messageId, receivedAt }: ReceivedMail) {
  return {
    id,
    to: [to],
    from: from === null ? "" : formatMailbox(from, fromName),
    subject,
    message_id: messageId,
    created_at: receivedAt,
    cc: null,
    bcc: null,
    reply_to: null as string[] | null,
  };
}
