import { type contract, DELIVERY_EVENTS, type Email, type MailState, type MailStateDetail, type Page } from "@mailsvc/sdk/contract";
import type { Reader, Tx } from "../db/db.ts";
import type { Handlers, KeyContext } from "../http/handler.ts";
import { notFound } from "../lib/api-error.ts";
import { isTestMail } from "../lib/ids.ts";
import { resolveById } from "../templates/templates.ts";
import { type AcceptedSend, acceptSend, type Origin } from "./accept.ts";
import { type DecodedAttachments, decodeAttachments } from "./attachments.ts";
import { type PreparedBatch, prepareBatch, sendBatch } from "./batch.ts";
import type { EmailDeps } from "./deps.ts";
import { cancelEmail, getEmailHistory, getReadableEmail, listEmails, requeueEmail, rescheduleEmail } from "./emails.ts";
import { measureMessage } from "./schedule.ts";
import { storeSends } from "./store-sends.ts";
import { acceptPrepared, type PreparedSend, prepareTemplateSend, prepareTestSend, storeTemplateSends } from "./template-send.ts";

type SendContext = KeyContext<EmailDeps> & { readonly tx: Tx };

/** Stages of queueing mails of a template, once they are rendered. */
const templateSend = {
  check: (_input: unknown, { tx, deps, ...context }: SendContext, prepared: PreparedSend) =>
    acceptPrepared(prepared, tx, deps, toOrigin(context)),
  measure: (_input: unknown, { ready }: PreparedSend) =>
    ready ? [...ready.messages.values()].reduce((sum, message) => sum + measureMessage(message, ready.files), 0) : 0,
  store: (accepted: readonly AcceptedSend[], { tx, deps }: Pick<SendContext, "tx" | "deps">) => storeTemplateSends(tx, deps, accepted),
};

export const emailHandlers: Handlers<typeof contract.emails, EmailDeps> = {
  send: {
    prepare: (input) => (input.attachments || input.icalEvent ? decodeAttachments(input) : []),
    check: (input, { tx, deps, ...context }, files: DecodedAttachments) =>
      acceptSend(tx, deps, { ...toOrigin(context), request: input, files }),
    measure: (input, files: DecodedAttachments) => measureMessage(input, files),
    store: (accepted: readonly AcceptedSend[], { tx, deps }) => storeSends(tx, deps, accepted),
  },
  sendTemplate: {
    prepare: ({ slug, template, ...input }, { read, deps, workspaceId }) =>
      prepareTemplateSend(read, deps.compiledTemplates, workspaceId, slug ?? template ?? "", input),
    ...templateSend,
  },
  sendBatch: {
    prepare: (input, ctx) => prepareBatch(input, ctx),
    run: ({ mode }, { tx, deps, ...context }, emails: PreparedBatch) =>
      sendBatch(emails, mode, tx, deps, { ...toOrigin(context), optedOut: context.optedOut, keyId: context.key.id }),
  },
  list: (input, { read, deps, workspaceId, key }) => listEmails(read, deps, workspaceId, { ...input, test: input.test || key.test }),
  get: async ({ id }, { read, deps, workspaceId, key }) => getReadableEmail(read, deps, workspaceId, visibleTo(key, id)),
  cancel: async ({ id }, { tx, deps, workspaceId, key }) => cancelEmail(tx, deps, workspaceId, visibleTo(key, id)),
  reschedule: async ({ id, scheduledAt }, { tx, deps, workspaceId, key }) =>
    rescheduleEmail(tx, deps, workspaceId, visibleTo(key, id), scheduledAt),
  requeue: async ({ id, to }, { tx, deps, workspaceId, key }) => requeueEmail(tx, deps, workspaceId, visibleTo(key, id), to),
};

/** The handlers of states without content. */
export const mailStateHandlers: Handlers<typeof contract.mailStates, EmailDeps> = {
  list: (input, { read, deps, workspaceId, key }) => listMailStates(read, deps, workspaceId, { ...input, test: key.test }),
  get: async ({ id }, { read, workspaceId, key }) => getMailState(read, workspaceId, visibleTo(key, id)),
};

/** The handlers of templates that send. */
export const templateSendHandlers: Pick<Handlers<typeof contract.templates, EmailDeps>, "send" | "test"> = {
  send: {
    prepare: ({ slug, ...input }, { read, deps, workspaceId }) =>
      prepareTemplateSend(read, deps.compiledTemplates, workspaceId, slug, input),
    ...templateSend,
  },
  test: {
    prepare: ({ id, version, ...input }, { read, deps, workspaceId }) =>
      prepareTestSend(input, () => resolveById(read, deps.compiledTemplates, workspaceId, id, version)),
    ...templateSend,
  },
};

function toOrigin({
  workspaceId,
  key,
  acceptsSuppressed,
  optedOut,
}: Pick<KeyContext<EmailDeps>, "workspaceId" | "key" | "acceptsSuppressed" | "optedOut">): Origin {
  return { workspaceId, test: key.test, acceptsSuppressed, optedOut: optedOut?.[0], senders: key.senders };
}

/** The same id. A test key sees no mail but that of test keys: throws ApiError not_found. */
function visibleTo({ test }: KeyContext<EmailDeps>["key"], id: string): string {
  if (test && !isTestMail(id)) throw notFound("email", id);
  return id;
}

type Query = Pick<
  Parameters<typeof listEmails>[3],
  "page" | "limit" | "cursor" | "test" | "status" | "to" | "template" | "campaign" | "since" | "until"
>;

const SHOWN: ReadonlySet<string> = new Set(DELIVERY_EVENTS);

/** The states of a workspace's mails, newest first. */
async function listMailStates(
  read: Reader,
  deps: Pick<EmailDeps, "clock" | "renderHooks">,
  workspaceId: string,
  query: Query,
): Promise<Page<MailState>> {
  const page = await listEmails(read, deps, workspaceId, query);
  return { ...page, data: page.data.map(toState) };
}

/** One mail with its way to each recipient, by its id or that of a recipient. Throws ApiError not_found. */
async function getMailState(read: Reader, workspaceId: string, id: string): Promise<MailStateDetail> {
  const { events, ...email } = await getEmailHistory(read, workspaceId, id);
  const shown = events.filter((event): event is typeof event & { type: MailStateDetail["events"][number]["type"] } =>
    SHOWN.has(event.type),
  );
  return {
    ...toState(email),
    events: shown.map((event) => ({ id: event.id, type: event.type, at: event.at, email: event.recipient.email })),
  };
}

/** Names each field that is shown, so that one that emails get later is not shown by itself. */
function toState(email: Email): MailState {
  const { id, status, to, from, template, campaignId, attempts, inDoubt, lastError, recipients } = email;
  const { createdAt, scheduledAt, nextAttemptAt } = email;
  return {
    ...{ id, status, to, from, template: template?.slug ?? null, campaignId, attempts, inDoubt, lastError },
    recipients: recipients.map((one) => ({
      ...{ id: one.id, email: one.email, kind: one.kind, status: one.status, lastError: one.lastError, updatedAt: one.updatedAt },
    })),
    ...{ createdAt, scheduledAt, nextAttemptAt },
  };
}
