import type { Email, EmailDetail, EmailStatus, Page } from "@mailsvc/sdk/contract";
import { parseAddress, parseMailbox } from "@mailsvc/sdk/contract";
import type { Reader, Tx } from "../db/db.ts";
import { type PageInput, paginateById } from "../db/pagination.ts";
import type { Deps } from "../deps.ts";
import { eventId, eventsOfEmail, record } from "../events/events.ts";
import { ApiError, notFound } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { deliveryOf } from "./jobs.ts";
import { scheduleOf } from "./schedule.ts";
import { transition, WAITING } from "./states.ts";
import { attachmentsOf, countEmails, type EmailRow, type FullEmail, findEmail, listEmails, moveEmail } from "./store.ts";

/** The Message-ID of a message: from its id and its sender's domain, so the same on every attempt and after every restart. */
export function messageIdOf(id: string, from: string): string {
  return `<${id}@${parseMailbox(from).domain}>`;
}

/** One email with its content and history. Throws ApiError not_found. */
export async function getEmail(read: Reader, workspaceId: string, id: string): Promise<EmailDetail> {
  const full = await find(read, workspaceId, id);
  const files = full.contents.attachments > 0 ? await attachmentsOf(read, full.contents) : [];
  const events = await eventsOfEmail(read, id);
  return {
    ...show(full),
    replyTo: full.contents.replyTo,
    html: full.contents.html,
    text: full.contents.text,
    headers: full.contents.headers,
    attachments: files.map(({ filename, contentType, contentId, size }) => ({ filename, contentType, contentId, size })),
    events: events.map((e) => ({
      id: eventId(e.sequence),
      sequence: e.sequence,
      type: e.type as EmailDetail["events"][number]["type"],
      at: iso(e.at),
      data: e.data ?? {},
    })),
  };
}

export interface EmailQuery extends PageInput {
  status?: EmailStatus | undefined;
  to?: string | undefined;
  inDoubt?: boolean | undefined;
}

export function pageOfEmails(read: Reader, workspaceId: string, { to, status, inDoubt, ...page }: EmailQuery): Promise<Page<Email>> {
  const filter = { status, inDoubt, toKey: to === undefined ? undefined : parseAddress(to).key };
  return paginateById<FullEmail & { id: string }, Email>(
    page,
    (slice) => listEmails(read, workspaceId, filter, slice),
    () => countEmails(read, workspaceId, filter),
    show,
  );
}

/** Takes a waiting message back. Cancelling twice is harmless. Throws ApiError not_found or invalid_state. */
export async function cancelEmail(tx: Tx, deps: Deps, workspaceId: string, id: string): Promise<Email> {
  const full = await find(tx, workspaceId, id);
  if (full.email.status === "cancelled") return show(full);
  const patch = { status: "cancelled" as const, nextAttemptAt: null, updatedAt: deps.clock.now() };
  // Its job stays: it finds the message cancelled and does nothing.
  if (!(await transition(tx, full.email, WAITING, patch))) throw tooLate(full.email, "cancelled");
  await record(tx, { workspaceId, type: "email.cancelled", emailId: id, at: patch.updatedAt });
  return show({ ...full, email: { ...full.email, ...patch } });
}

/** Moves a scheduled message to another instant. Throws ApiError not_found, invalid_state or validation_error. */
export async function rescheduleEmail(tx: Tx, deps: Deps, workspaceId: string, id: string, scheduledAt: string): Promise<Email> {
  const full = await find(tx, workspaceId, id);
  const at = scheduleOf(scheduledAt, deps.clock.now()) as number;
  const patch = { scheduledAt: at, nextAttemptAt: at, updatedAt: deps.clock.now() };
  if (full.email.scheduledAt === null) throw new ApiError("invalid_state", "This email was not scheduled; it is on its way.");
  if (!(await moveEmail(tx, full.email, ["queued"], patch))) throw tooLate(full.email, "rescheduled");
  // The job of the earlier time finds that its hour has not come, and does nothing.
  await deps.queue.enqueue(tx, deliveryOf(workspaceId, id, at, patch.updatedAt));
  await record(tx, { workspaceId, type: "email.rescheduled", emailId: id, at: patch.updatedAt, data: { scheduledAt: iso(at) } });
  return show({ ...full, email: { ...full.email, ...patch } });
}

function instant(ms: number | null): string | null {
  return ms === null ? null : iso(ms);
}

/** `order-shipped@3`: the template and its version. */
function templateOf(name: string | null): Email["template"] {
  if (name === null) return null;
  const at = name.lastIndexOf("@");
  return { slug: name.slice(0, at), version: Number(name.slice(at + 1)) };
}

function show({ email, contents }: FullEmail): Email {
  return {
    id: email.id,
    status: email.status,
    to: email.to,
    from: contents.from,
    subject: contents.subject,
    tags: contents.tags,
    template: templateOf(contents.template),
    messageId: messageIdOf(email.id, contents.from),
    attempts: email.attempts,
    inDoubt: email.inDoubt,
    lastError: email.lastError,
    createdAt: iso(email.createdAt),
    scheduledAt: instant(email.scheduledAt),
    nextAttemptAt: instant(email.nextAttemptAt),
    sentAt: instant(email.sentAt),
    updatedAt: iso(email.updatedAt),
  };
}

async function find(q: Tx | Reader, workspaceId: string, id: string): Promise<FullEmail> {
  const found = await findEmail(q, workspaceId, id);
  if (!found) throw notFound("email", id);
  return found;
}

function tooLate(email: EmailRow, what: string): ApiError {
  return new ApiError("invalid_state", `This email is ${email.status}; only one that is ${WAITING.join(" or ")} can be ${what}.`);
}
