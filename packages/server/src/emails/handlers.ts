import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import { resolveById } from "../templates/templates.ts";
import { type DecodedAttachments, decodeAttachments } from "./attachments.ts";
import type { EmailDeps } from "./deps.ts";
import { cancelEmail, getEmail, listEmails, rescheduleEmail } from "./emails.ts";
import { send } from "./send.ts";
import { type PreparedSend, prepareTemplateSend, prepareTestSend, sendPrepared } from "./template-send.ts";

export const emailHandlers: Handlers<typeof contract.emails, EmailDeps> = {
  send: {
    prepare: (input) => (input.attachments ? decodeAttachments(input.attachments) : []),
    run: (input, { tx, deps, workspaceId }, files: DecodedAttachments) => send(input, tx, deps, workspaceId, files),
    insertsOnly: true,
  },
  sendTemplate: {
    prepare: ({ slug, template, ...input }, { read, deps, workspaceId }) =>
      prepareTemplateSend(read, deps.compiledTemplates, workspaceId, slug ?? template ?? "", input),
    run: (_input, { tx, deps, workspaceId }, prepared: PreparedSend) => sendPrepared(prepared, tx, deps, workspaceId),
    insertsOnly: true,
  },
  list: (input, { read, deps, workspaceId }) => listEmails(read, deps, workspaceId, input),
  get: ({ id }, { read, workspaceId }) => getEmail(read, workspaceId, id),
  cancel: ({ id }, { tx, deps, workspaceId }) => cancelEmail(tx, deps, workspaceId, id),
  reschedule: ({ id, scheduledAt }, { tx, deps, workspaceId }) => rescheduleEmail(tx, deps, workspaceId, id, scheduledAt),
};

/** The handlers of templates that send. */
export const templateSendHandlers: Pick<Handlers<typeof contract.templates, EmailDeps>, "send" | "test"> = {
  send: {
    prepare: ({ slug, ...input }, { read, deps, workspaceId }) =>
      prepareTemplateSend(read, deps.compiledTemplates, workspaceId, slug, input),
    run: (_input, { tx, deps, workspaceId }, prepared: PreparedSend) => sendPrepared(prepared, tx, deps, workspaceId),
    insertsOnly: true,
  },
  test: {
    prepare: ({ id, version, ...input }, { read, deps, workspaceId }) =>
      prepareTestSend(input, () => resolveById(read, deps.compiledTemplates, workspaceId, id, version)),
    run: (_input, { tx, deps, workspaceId }, prepared: PreparedSend) => sendPrepared(prepared, tx, deps, workspaceId),
    insertsOnly: true,
  },
};
