import { type Page, parseAddress, WEBHOOK_LIMITS, type Webhook, type WebhookFormat, type WebhookStatus } from "@mailsvc/sdk/contract";
import { and, eq } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { listPage, type PageInput } from "../db/pagination.ts";
import type { EventDeps } from "../events/deps.ts";
import { findStreamEnd } from "../events/events.ts";
import { ApiError } from "../lib/api-error.ts";
import { assertWebhookUrl } from "../lib/guard-url.ts";
import type { Ids } from "../lib/ids.ts";
import type { Limiter } from "../lib/rate.ts";
import { HOUR } from "../lib/units.ts";
import type { Mailer } from "../mail/mailer.ts";
import { getCurrentSecret, getSigningSecrets, makeSecret, sealSecret, type WebhookDeps } from "../webhooks/webhooks.ts";
import { CLEAR_JOB } from "./jobs.ts";
import { getWebhookRow, showWebhook, type WebhookRow } from "./webhook.ts";

export { forgetDeliveries, listSentDeliveries } from "./deliveries.ts";
export { isReceiving } from "./endpoint.ts";
export { collideWithReading, isRead, readForWebhooks } from "./fan-out.ts";
export { listResendTypes, RESEND_EVENTS } from "./resend-format.ts";
export { findWebhookRows, getWebhookRow } from "./webhook.ts";

/** Fields that a developer sets. */
interface WebhookFields {
  readonly url?: string | undefined;
  readonly events?: string[] | undefined;
  readonly format?: WebhookFormat | undefined;
  readonly description?: string | null | undefined;
  readonly alertEmail?: string | null | undefined;
}

/** The webhooks of a workspace, newest first. */
export function listWebhooks(
  read: Reader,
  { clock }: DeveloperWebhookDeps,
  workspaceId: string,
  { status, ...page }: PageInput & { status?: WebhookStatus | undefined },
): Promise<Page<Webhook>> {
  const { developerWebhooks: w } = read.t;
  const now = clock.now();
  const where = and(eq(w.workspaceId, workspaceId), status && eq(w.status, status));
  return listPage(read, page, { table: w, where, toItem: (row) => showWebhook(row, now) });
}

/** Registers a webhook. Throws ApiError limit_reached, or validation_error for a URL that must not be called. */
export async function createWebhook(
  tx: Tx,
  deps: DeveloperWebhookDeps,
  workspaceId: string,
  fields: WebhookFields & { url: string; events: string[] },
): Promise<Webhook & { secret: string }> {
  const { developerWebhooks: w } = tx.t;
  assertWebhookUrl("url", fields.url, deps.webhookGuard);
  if ((await tx.$count(w, eq(w.workspaceId, workspaceId))) >= WEBHOOK_LIMITS.perWorkspace)
    throw new ApiError("limit_reached", `A workspace can have ${WEBHOOK_LIMITS.perWorkspace} webhooks.`, {
      hint: "Delete one first: mailsvc webhooks list",
    });
  const id = deps.ids("whk");
  const now = deps.clock.now();
  const secret = makeSecret(deps.random);
  const row: WebhookRow = {
    id,
    workspaceId,
    url: fields.url,
    description: fields.description ?? null,
    events: [...new Set(fields.events)],
    format: fields.format ?? "mailsvc",
    status: "enabled",
    alertEmail: toAlertEmail(fields.alertEmail) ?? null,
    secret: sealSecret(deps, id, secret),
    nextSecret: null,
    nextSecretAt: null,
    failingSince: null,
    lastError: null,
    position: await findStreamEnd(tx, workspaceId),
    createdAt: now,
    updatedAt: now,
  };
  await tx.insert(w).values(row);
  tx.afterCommit(() => deps.webhooks.prepare());
  return { ...showWebhook(row, now), secret };
}

/** One webhook. Throws ApiError not_found. */
export async function getWebhook(read: Reader, { clock }: DeveloperWebhookDeps, workspaceId: string, id: string): Promise<Webhook> {
  return showWebhook(await getWebhookRow(read, workspaceId, id), clock.now());
}

/** Changes the fields that are given. Throws ApiError not_found or validation_error. */
export async function updateWebhook(
  tx: Tx,
  deps: DeveloperWebhookDeps,
  workspaceId: string,
  id: string,
  fields: WebhookFields,
): Promise<Webhook> {
  const row = await getWebhookRow(tx, workspaceId, id);
  if (fields.url !== undefined) assertWebhookUrl("url", fields.url, deps.webhookGuard);
  const alertEmail = toAlertEmail(fields.alertEmail);
  return save(tx, deps, row, {
    ...(fields.url !== undefined && { url: fields.url }),
    ...(fields.events !== undefined && { events: [...new Set(fields.events)] }),
    ...(fields.format !== undefined && { format: fields.format }),
    ...(fields.description !== undefined && { description: fields.description }),
    ...(alertEmail !== undefined && { alertEmail }),
  });
}

/** The secret that signs for a webhook now. Throws ApiError not_found. */
export async function readWebhookSecret(
  q: Reader | Tx,
  deps: Pick<DeveloperWebhookDeps, "clock" | "seal">,
  workspaceId: string,
  id: string,
): Promise<string> {
  const row = await getWebhookRow(q, workspaceId, id);
  return getSigningSecrets(deps, row, deps.clock.now()).current;
}

/** Holds back what is for a webhook. Throws ApiError not_found, or invalid_state for a disabled one. */
export async function pauseWebhook(tx: Tx, deps: DeveloperWebhookDeps, workspaceId: string, id: string): Promise<Webhook> {
  const row = await getWebhookRow(tx, workspaceId, id);
  if (row.status === "disabled")
    throw new ApiError("invalid_state", "This webhook is disabled: it gets no events.", { hint: "Resume it first." });
  return save(tx, deps, row, { status: "paused" });
}

/** Lets everything for a webhook go out again, at once. Throws ApiError not_found. */
export async function resumeWebhook(tx: Tx, deps: DeveloperWebhookDeps, workspaceId: string, id: string): Promise<Webhook> {
  const row = await getWebhookRow(tx, workspaceId, id);
  tx.afterCommit(() => deps.webhooks.wake([id]));
  if (row.status !== "disabled") return save(tx, deps, row, { status: "enabled" });
  // Earlier failures do not count against its second chance, and events of the meantime are not for it.
  const position = await findStreamEnd(tx, workspaceId);
  return save(tx, deps, row, { status: "enabled", failingSince: null, lastError: null, position });
}

/** Creates a new secret, which alone signs once the overlap has passed; until then both do. Throws ApiError not_found. */
export async function rotateSecret(
  tx: Tx,
  deps: DeveloperWebhookDeps,
  workspaceId: string,
  id: string,
  overlapHours: number,
): Promise<Webhook & { secret: string }> {
  const row = await getWebhookRow(tx, workspaceId, id);
  const now = deps.clock.now();
  const secret = makeSecret(deps.random);
  const shown = await save(tx, deps, row, {
    secret: getCurrentSecret(row, now),
    nextSecret: sealSecret(deps, id, secret),
    nextSecretAt: now + overlapHours * HOUR,
  });
  return { ...shown, secret };
}

/** Deletes a webhook: nothing goes out any more, and a job deletes what was written for it. Throws ApiError not_found. */
export async function deleteWebhook(tx: Tx, deps: DeveloperWebhookDeps, workspaceId: string, id: string): Promise<Webhook> {
  const row = await getWebhookRow(tx, workspaceId, id);
  const { developerWebhooks: w } = tx.t;
  await tx.delete(w).where(eq(w.id, id));
  await deps.queue.enqueue(tx, { kind: CLEAR_JOB, payload: { webhookId: id }, runAt: deps.clock.now() });
  return showWebhook(row, deps.clock.now());
}

async function save(tx: Tx, { clock }: DeveloperWebhookDeps, row: WebhookRow, patch: Partial<WebhookRow>): Promise<Webhook> {
  const { developerWebhooks: w } = tx.t;
  const now = clock.now();
  const changed = { ...patch, updatedAt: now };
  await tx.update(w).set(changed).where(eq(w.id, row.id));
  return showWebhook({ ...row, ...changed }, now);
}

function toAlertEmail(email: string | null | undefined): string | null | undefined {
  return typeof email === "string" ? parseAddress(email).address : email;
}

export interface DeveloperWebhookDeps extends WebhookDeps, EventDeps {
  readonly config: WebhookDeps["config"] & { readonly mailFrom: string };
  readonly ids: Ids;
  /** Rate limits, shared by all servers on one database. */
  readonly limiter: Limiter;
  readonly mailer: Mailer;
  readonly webhooks: WebhookDeps["webhooks"];
}
