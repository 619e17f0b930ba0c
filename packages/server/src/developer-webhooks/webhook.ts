import type { AttemptClass, Webhook, WebhookStatus } from "@mailsvc/sdk/contract";
import type { Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { notFound } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import type { DeveloperWebhookTables } from "./tables.ts";

/*
 * The states of a webhook. Rows: state. Columns: what happens. `–` leaves the state as it is.
 *
 * |          | pause    | resume  | 410, or five days | delete    | new events                   | what waits        |
 * |          |          |         | of failure        |           |                              |                   |
 * | -------- | -------- | ------- | ----------------- | --------- | ---------------------------- | ----------------- |
 * | enabled  | paused   | –       | disabled          | (deleted) | are written for it           | goes out          |
 * | paused   | –        | enabled | –¹                | (deleted) | are written for it, and wait | waits             |
 * | disabled | (refused)| enabled | –                 | (deleted) | are not written for it       | waits             |
 *
 * 1. An attempt that was under way when it was paused may still fail; its failure counts and disables it only if it is enabled.
 */

export type WebhookRow = DeveloperWebhookTables["developerWebhooks"]["$inferSelect"];

/** The last failure of a webhook. */
export interface LastError {
  /** Ms. */
  readonly at: number;
  readonly class: AttemptClass;
  readonly httpStatus: number | null;
  readonly message: string | null;
}

/** States in which events are written for a webhook. */
export const RECEIVING: readonly WebhookStatus[] = ["enabled", "paused"];

/** A webhook of a workspace. Throws ApiError not_found. */
export async function getWebhookRow(q: Reader | Tx, workspaceId: string, id: string): Promise<WebhookRow> {
  const { developerWebhooks: w } = q.t;
  const [row] = await findRows(q, w, { workspaceId, id });
  if (!row) throw notFound("webhook", id);
  return row;
}

/** Webhooks of a workspace by their ids, without those that do not exist. */
export async function findWebhookRows(
  q: Reader | Tx,
  workspaceId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, WebhookRow>> {
  const rows = await findRows(q, q.t.developerWebhooks, { workspaceId, id: [...new Set(ids)] });
  return new Map(rows.map((row) => [row.id, row]));
}

/** A webhook as its developer sees it. */
export function showWebhook(row: WebhookRow, now: number): Webhook {
  const { lastError } = row;
  return {
    id: row.id,
    url: row.url,
    description: row.description,
    events: row.events,
    format: row.format,
    status: row.status,
    alertEmail: row.alertEmail,
    failingSince: row.failingSince === null ? null : iso(row.failingSince),
    lastError: lastError && { ...lastError, at: iso(lastError.at) },
    secretRotatesAt: row.nextSecretAt !== null && now < row.nextSecretAt ? iso(row.nextSecretAt) : null,
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
  };
}
