import { type Explanation, WEBHOOK_LIMITS } from "@mailsvc/sdk/contract";
import type { Reader } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { notFound } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { buildExplanation, type Findings, joinSentences, type Present, sayInstant, toCall } from "../lib/explanation.ts";
import { DAY } from "../lib/units.ts";
import { describeAttempts, explainAttempt, explainDelivery } from "../webhooks/webhooks.ts";
import { getDelivery, listDeliveries } from "./deliveries.ts";
import { getWebhookRow, type WebhookRow } from "./webhook.ts";

// The latest failed and waiting deliveries that are named.
const RELATED = 5;

/** Explains a webhook: whether it gets events, and why not. Throws ApiError not_found. */
export async function explainWebhook(read: Reader, present: Present, workspaceId: string, id: string): Promise<Explanation> {
  const row = await getWebhookRow(read, workspaceId, id);
  const { data } = await listDeliveries(read, row, { page: 1, limit: 100 });
  const troubled = data.filter(({ state }) => state !== "delivered").slice(0, RELATED);
  const { failingSince, lastError } = row;
  return buildExplanation(
    {
      id,
      kind: "webhook",
      title: `Webhook ${row.url}`,
      status: row.status,
      moments: [
        { at: row.createdAt, what: `Registered for ${row.events.join(", ")}` },
        ...(failingSince === null ? [] : [{ at: failingSince, what: "Since then every attempt has failed" }]),
        ...(lastError === null
          ? []
          : [
              {
                at: lastError.at,
                what: `The last failure: ${lastError.message ?? lastError.class}`,
                why: explainAttempt({ class: lastError.class, answer: null }),
              },
            ]),
        ...(row.status === "enabled" ? [] : [{ at: row.updatedAt, what: row.status === "paused" ? "Paused" : "Disabled" }]),
      ],
      related: troubled.map((delivery) => delivery.id),
      ...findState(row, present.now),
    },
    present,
  );
}

/** Explains the delivery of an event to a webhook. Throws ApiError not_found. */
export async function explainWebhookDelivery(read: Reader, present: Present, workspaceId: string, id: string): Promise<Explanation> {
  const [row] = await findRows(read, read.t.webhookDeliveries, { id });
  if (row?.workspaceId !== workspaceId) throw notFound("webhook delivery", id);
  const webhook = await getWebhookRow(read, workspaceId, row.endpointId);
  const delivery = await getDelivery(read, webhook, id);
  const arrived = delivery.state === "delivered";
  return buildExplanation(
    {
      id,
      kind: "webhook_delivery",
      title: `Delivery of ${delivery.type} to ${webhook.url}`,
      status: delivery.state,
      moments: [
        { at: Date.parse(delivery.at), what: `It happened: ${delivery.type}, event ${delivery.eventId}` },
        ...describeAttempts(delivery.log),
      ],
      ...explainDelivery(delivery, webhook.status === "enabled" ? null : `The webhook is ${webhook.status}.`),
      actions: [
        ...(webhook.status === "enabled" ? [] : [{ what: "Resume the webhook", command: `mailsvc webhooks resume ${webhook.id}` }]),
        { what: arrived ? "Send it once more" : "Send it now", command: `mailsvc webhooks redeliver ${webhook.id} ${id}` },
      ],
      related: [webhook.id],
    },
    present,
  );
}

/** The end of a webhook that fails: by an attempt that fails after its time, so one without events stays enabled. */
function findEnd(failingSince: number, now: number): Findings["next"] {
  const at = failingSince + WEBHOOK_LIMITS.disabledAfterDays * DAY;
  return at > now
    ? { at, what: "It is disabled if it still fails then." }
    : { at: null, what: "It is disabled if the next attempt fails too." };
}

function findState({ id, status, failingSince, lastError }: WebhookRow, now: number): Pick<Findings, "summary" | "next" | "actions"> {
  const cause = lastError && joinSentences(lastError.message, explainAttempt({ class: lastError.class, answer: null }));
  const test = { what: "Try it", command: `mailsvc webhooks test ${id}` };
  const resume = { what: "Resume it", command: `mailsvc webhooks resume ${id}`, call: toCall("Resume", "webhooks.resume", [id]) };
  switch (status) {
    case "paused":
      return {
        summary: "You paused it. Events wait for it.",
        next: { at: null, what: "What waits goes out when it is resumed." },
        actions: [resume],
      };
    case "disabled":
      return {
        summary: joinSentences(
          lastError?.httpStatus === 410
            ? "It was disabled, because it answered 410: it is gone."
            : `It was disabled, because every attempt failed for ${WEBHOOK_LIMITS.disabledAfterDays} days. Events are not written for it any more.`,
          cause,
        ),
        actions: [
          test,
          { ...resume, what: "Resume it once it works" },
          ...(failingSince === null
            ? []
            : [{ what: "Then send what it missed", command: `mailsvc webhooks redeliver-since ${id} --since ${iso(failingSince)}` }]),
        ],
      };
    case "enabled":
      return failingSince === null
        ? { summary: "It works: the last attempt arrived, or none has been made yet.", actions: [test] }
        : {
            summary: joinSentences(`Every attempt since ${sayInstant(failingSince)} has failed.`, cause),
            next: findEnd(failingSince, now),
            actions: [test, { what: "See the deliveries", command: `mailsvc webhooks deliveries ${id}` }],
          };
  }
}
