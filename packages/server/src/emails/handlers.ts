import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers, KeyContext } from "../http/handler.ts";
import { notFound } from "../lib/api-error.ts";
import { isTestMail } from "../lib/test-mail.ts";
import { resolveById } from "../templates/templates.ts";
import type { Origin } from "./accept.ts";
import { type DecodedAttachments, decodeAttachments } from "./attachments.ts";
import { type PreparedBatch, prepareBatch, sendBatch } from "./batch.ts";
import type { EmailDeps } from "./deps.ts";
import { cancelEmail, getReadableEmail, listEmails, requeueEmail, rescheduleEmail } from "./emails.ts";
import { send } from "./send.ts";
import { type PreparedSend, prepareTemplateSend, prepareTestSend, sendPrepared } from "./template-send.ts";

export const emailHandlers: Handlers<typeof contract.emails, EmailDeps> = {
  send: {
    prepare: (input) => (input.attachments ? decodeAttachments(input.attachments) : []),
    run: (input, { tx, deps, ...context }, files: DecodedAttachments) => send(tx, deps, { ...toOrigin(context), request: input, files }),
    insertsOnly: true,
  },
  sendTemplate: {
    prepare: ({ slug, template, ...input }, { read, deps, workspaceId }) =>
      prepareTemplateSend(read, deps.compiledTemplates, workspaceId, slug ?? template ?? "", input),
    run: (_input, { tx, deps, ...context }, prepared: PreparedSend) => sendPrepared(prepared, tx, deps, toOrigin(context)),
    insertsOnly: true,
  },
  sendBatch: {
    prepare: (input, ctx) => prepareBatch(input, ctx),
    run: ({ mode }, { tx, deps, ...context }, emails: PreparedBatch) =>
      sendBatch(emails, mode, tx, deps, { ...toOrigin(context), keyId: context.key.id }),
    insertsOnly: true,
  },
  list: (input, { read, deps, workspaceId, key }) => listEmails(read, deps, workspaceId, { ...input, test: input.test || key.test }),
  get: async ({ id }, { read, deps, workspaceId, key }) => getReadableEmail(read, deps, workspaceId, visibleTo(key, id)),
  cancel: async ({ id }, { tx, deps, workspaceId, key }) => cancelEmail(tx, deps, workspaceId, visibleTo(key, id)),
  reschedule: async ({ id, scheduledAt }, { tx, deps, workspaceId, key }) =>
    rescheduleEmail(tx, deps, workspaceId, visibleTo(key, id), scheduledAt),
  requeue: async ({ id, to }, { tx, deps, workspaceId, key }) => requeueEmail(tx, deps, workspaceId, visibleTo(key, id), to),
};

/** The handlers of templates that send. */
export const templateSendHandlers: Pick<Handlers<typeof contract.templates, EmailDeps>, "send" | "test"> = {
  send: {
    prepare: ({ slug, ...input }, { read, deps, workspaceId }) =>
      prepareTemplateSend(read, deps.compiledTemplates, workspaceId, slug, input),
    run: (_input, { tx, deps, ...context }, prepared: PreparedSend) => sendPrepared(prepared, tx, deps, toOrigin(context)),
    insertsOnly: true,
  },
  test: {
    prepare: ({ id, version, ...input }, { read, deps, workspaceId }) =>
      prepareTestSend(input, () => resolveById(read, deps.compiledTemplates, workspaceId, id, version)),
    run: (_input, { tx, deps, ...context }, prepared: PreparedSend) => sendPrepared(prepared, tx, deps, toOrigin(context)),
    insertsOnly: true,
  },
};

function toOrigin({ workspaceId, key }: Pick<KeyContext<EmailDeps>, "workspaceId" | "key">): Origin {
  return { workspaceId, test: key.test };
}

/** The same id. A test key sees no mail but that of test keys: throws ApiError not_found. */
function visibleTo({ test }: KeyContext<EmailDeps>["key"], id: string): string {
  if (test && !isTestMail(id)) throw notFound("email", id);
  return id;
}
