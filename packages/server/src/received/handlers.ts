import type { contract } from "@mailsvc/sdk/contract";
import { type DecodedAttachments, decodeAttachments } from "../emails/emails.ts";
import type { Handlers } from "../http/handler.ts";
import type { RecordLook } from "../senders/senders.ts";
import { answerReceived } from "./answer.ts";
import type { ReceivedDeps } from "./deps.ts";
import { addDomain, checkRecords, getDomainRow, listDomains, recordCheck, removeDomain, toInboundDomain } from "./domains.ts";
import { deleteReceived, getReceived, listAttachments, listReceived, readAttachment } from "./received.ts";
import { getReceivedRow, readRaw } from "./store.ts";

export const receivedHandlers: Handlers<typeof contract.received, ReceivedDeps> = {
  list: (input, { read, workspaceId }) => listReceived(read, workspaceId, input),
  get: ({ id }, { read, workspaceId }) => getReceived(read, workspaceId, id),
  attachments: ({ id }, { read, workspaceId }) => listAttachments(read, workspaceId, id),
  attachment: ({ id, number }, { read, workspaceId }) => readAttachment(read, workspaceId, id, number),
  raw: async ({ id }, { read, workspaceId }) => readRaw(read, await getReceivedRow(read, workspaceId, id)),
  reply: {
    prepare: ({ attachments }) => (attachments ? decodeAttachments(attachments) : []),
    run: ({ id, ...request }, { tx, deps, workspaceId }, files: DecodedAttachments) =>
      answerReceived(tx, deps, workspaceId, id, request, files),
  },
  delete: ({ id }, { tx, workspaceId }) => deleteReceived(tx, workspaceId, id),
};

export const inboundDomainHandlers: Handlers<typeof contract.inboundDomains, ReceivedDeps> = {
  list: (input, { read, deps, workspaceId }) => listDomains(read, deps, workspaceId, input),
  create: ({ domain }, { tx, deps, workspaceId }) => addDomain(tx, deps, workspaceId, domain),
  get: async ({ id }, { read, deps, workspaceId }) => toInboundDomain(deps, await getDomainRow(read, workspaceId, id)),
  verify: {
    prepare: async ({ id }, { read, deps, workspaceId }) => checkRecords(deps, await getDomainRow(read, workspaceId, id)),
    run: async ({ id }, { tx, deps, workspaceId }, look: RecordLook) =>
      recordCheck(tx, deps, await getDomainRow(tx, workspaceId, id), look),
  },
  delete: ({ id }, { tx, deps, workspaceId }) => removeDomain(tx, deps, workspaceId, id),
};
