import { parseMailbox, WEBHOOK_LIMITS } from "@mailsvc/sdk/contract";
import { asc, eq, inArray } from "drizzle-orm";
import { findRows } from "../db/find.ts";
import { escapeHtml } from "../html/escape.ts";
import { hidePlacesOf } from "../mail/hide-places.ts";
import { type OutgoingMail, recordDeliveries } from "../mail/mailer.ts";
import type { JobHandler } from "../queue/queue.ts";
import type { DeveloperWebhookDeps } from "./developer-webhooks.ts";
import type { WebhookRow } from "./webhook.ts";

/** The job that deletes what was written for a deleted webhook. */
export const CLEAR_JOB = "webhooks.clear";
/** The job that tells by mail that a webhook was disabled. */
export const ALERT_JOB = "webhooks.alert";

// Deliveries deleted in one transaction: a few ms of work, during which other writers wait.
const CHUNK = 500;

/** Deletes the deliveries of a deleted webhook, some at a time, and then its streams. */
export function clearDeliveries(deps: DeveloperWebhookDeps): JobHandler {
  return async ({ payload }) => ({
    commit: async (tx) => {
      const { webhookDeliveries: e, webhookAttempts: a, webhookStreams: s } = tx.t;
      const id = String(payload.webhookId);
      const rows = await tx.select({ id: e.id }).from(e).where(eq(e.endpointId, id)).orderBy(asc(e.id)).limit(CHUNK);
      const ids = rows.map((row) => row.id);
      if (ids.length > 0) {
        await tx.delete(a).where(inArray(a.eventId, ids));
        await tx.delete(e).where(inArray(e.id, ids));
      }
      if (rows.length === CHUNK) await deps.queue.enqueue(tx, { kind: CLEAR_JOB, payload, runAt: deps.clock.now() });
      else await tx.delete(s).where(eq(s.endpointId, id));
    },
  });
}

/** Sends the mail about a disabled webhook. */
export function alertOwner(deps: DeveloperWebhookDeps): JobHandler {
  return async ({ payload, attempt }) => {
    const { developerWebhooks: w } = deps.db.read.t;
    const [row] = await findRows(deps.db.read, w, { id: String(payload.webhookId) });
    // Resumed meanwhile, or the alert address was removed.
    if (row?.status !== "disabled" || row.alertEmail === null) return {};
    const receipt = hidePlacesOf(await deps.mailer.send(buildAlert(deps, row, row.alertEmail, attempt)));
    if (receipt.outcome === "delivered") {
      const { record } = receipt;
      return record ? { commit: (tx) => recordDeliveries(tx, [record]) } : {};
    }
    if (receipt.outcome === "sent" || receipt.outcome === "bounced") return {};
    throw new Error(`The mail about a disabled webhook was not delivered: ${receipt.error.message}`);
  };
}

function buildAlert(deps: DeveloperWebhookDeps, row: WebhookRow, to: string, attempt: number): OutgoingMail {
  const { mailFrom } = deps.config;
  const from = parseMailbox(mailFrom);
  const reason = row.lastError?.message ?? "It did not respond.";
  const days = `It has not accepted an event for ${WEBHOOK_LIMITS.disabledAfterDays} days, or said that it is gone (410).`;
  const lines = [
    `The webhook ${row.url} was disabled: it gets no events any more.`,
    `${days} The last error: ${reason}`,
    `Once it works again: mailsvc webhooks resume ${row.id}, and for what it missed: mailsvc webhooks redeliver-since ${row.id} --since TIME`,
  ];
  return {
    envelopeFrom: from.address,
    envelopeTo: to,
    messageId: `<${row.id}.${row.updatedAt}.${attempt}@${from.domain}>`,
    from: mailFrom,
    to: [{ name: "", address: to }],
    cc: [],
    replyTo: null,
    subject: `Webhook disabled: ${new URL(row.url).host}`,
    text: `${lines.join("\n\n")}\n`,
    html: lines.map((line) => `<p>${escapeHtml(line)}</p>`).join(""),
    headers: {},
    attachments: [],
    date: deps.clock.now(),
    attempt,
    origin: { workspaceId: row.workspaceId, emailId: null },
  };
}
