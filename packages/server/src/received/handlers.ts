import type { contract } from "@mailsvc/sdk/contract";
import { type DecodedAttachments, decodeAttachments } from "../emails/emails.ts";
import type { Handlers, ReadContext } from "../http/handler.ts";
import { ApiError, notFound } from "../lib/api-error.ts";
import { isTestMail } from "../lib/ids.ts";
import { getActivationOfAgent } from "../marketplace/activations/activations.ts";
import type { RecordLook } from "../senders/senders.ts";
import { answerReceived } from "./answer.ts";
import { addDomain, checkRecords, getDomainRow, listDomains, recordCheck, removeDomain, toInboundDomain } from "./domains.ts";
import { passOn } from "./pass-on.ts";
import { deleteReceived, getReceived, listAttachments, listReceived, type ReceivedDeps, readAttachment } from "./received.ts";
import { getReceivedRow, readRaw } from "./store.ts";

export const receivedHandlers: Handlers<typeof contract.received, ReceivedDeps> = {
  list: (input, { read, workspaceId, key }) => listReceived(read, workspaceId, { ...input, test: input.test || key.test }),
  get: async ({ id }, context) => getReceived(context.read, context.workspaceId, await visibleTo(context, id)),
  attachments: async ({ id }, context) => listAttachments(context.read, context.workspaceId, await visibleTo(context, id)),
  attachment: async ({ id, number }, context) => readAttachment(context.read, context.workspaceId, await visibleTo(context, id), number),
  raw: async ({ id }, context) =>
    readRaw(context.read, await getReceivedRow(context.read, context.workspaceId, await visibleTo(context, id))),
  reply: {
    prepare: ({ attachments }) => (attachments ? decodeAttachments({ attachments }) : []),
    run: ({ id, ...request }, { tx, deps, workspaceId }, files: DecodedAttachments) =>
      answerReceived(tx, deps, workspaceId, id, request, files),
  },
  passOn: async ({ id, agent }, { tx, deps, workspaceId, key }) => {
    // The text of a mail leaves by it: a key that may not read it may not send it on either.
    if (!key.owner && !key.permissions.has("received:read"))
      throw new ApiError("forbidden", "This API key lacks the permission received:read.", {
        details: [{ path: "", code: "missing_permission", message: "received:read" }],
      });
    const { activation } = await getActivationOfAgent(tx, workspaceId, agent);
    const { message, created } = await passOn(tx, deps, workspaceId, {
      id: await visibleTo({ read: tx, workspaceId, key }, id),
      activationId: activation.id,
    });
    return { status: created ? 201 : 200, body: message };
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

/** The same id. A test key sees no mail but answers to emails of test keys: throws ApiError not_found. */
async function visibleTo(
  { read, workspaceId, key }: Pick<ReadContext<ReceivedDeps>, "read" | "workspaceId" | "key">,
  id: string,
): Promise<string> {
  if (key.test && !isTestMail((await getReceivedRow(read, workspaceId, id)).emailId)) throw notFound("received mail", id);
  return id;
}
