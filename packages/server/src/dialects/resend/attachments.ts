import { contract } from "@mailsvc/sdk/contract";
import { notFound } from "../../lib/api-error.ts";
import { toPartUuid } from "../../lib/uuids.ts";
import { type Operation, readOperation } from "../operation.ts";
import { showFile } from "./download-links.ts";
import { answerPart, partQuery } from "./lists.ts";

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
