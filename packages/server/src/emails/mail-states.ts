import { DELIVERY_EVENTS, type Email, type MailState, type MailStateDetail, type Page } from "@mailsvc/sdk/contract";
import type { Reader } from "../db/db.ts";
import type { EmailDeps } from "./deps.ts";
import { getEmailHistory, listEmails } from "./emails.ts";

type Query = Pick<
  Parameters<typeof listEmails>[3],
  "page" | "limit" | "cursor" | "test" | "status" | "to" | "template" | "campaign" | "since" | "until"
>;

const SHOWN: ReadonlySet<string> = new Set(DELIVERY_EVENTS);

/** The states of a workspace's mails, newest first. */
export async function listMailStates(
  read: Reader,
  deps: Pick<EmailDeps, "clock" | "renderHooks">,
  workspaceId: string,
  query: Query,
): Promise<Page<MailState>> {
  const page = await listEmails(read, deps, workspaceId, query);
  return { ...page, data: page.data.map(toState) };
}

/** One mail with its way to each recipient, by its id or that of a recipient. Throws ApiError not_found. */
export async function getMailState(read: Reader, workspaceId: string, id: string): Promise<MailStateDetail> {
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
