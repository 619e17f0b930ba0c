import { contract, type Webhook } from "@mailsvc/sdk/contract";
import * as z from "zod";
import { listResendTypes, RESEND_EVENTS, readWebhookSecret } from "../../developer-webhooks/developer-webhooks.ts";
import { invalid } from "../../lib/api-error.ts";
import { type Operation, readOperation, type Writes, writeOperation } from "../operation.ts";
import { answerList, listQuery } from "./lists.ts";

const Events = z.array(z.string()).min(1).max(50);

const NOTE =
  "there are no events of domains, topics and shared inboxes; contact.deleted and suppression.removed name the id only, because events hold no personal data";

/** Webhooks. Webhooks registered here get events in Resend's format, with the headers of Svix. */
export const webhookOperations: readonly Operation[] = [
  writeOperation({
    method: "POST",
    path: "/webhooks",
    note: NOTE,
    body: z.object({ endpoint: z.string(), events: Events }),
    status: 201,
    confidential: true,
    run: async ({ endpoint, events }, calls) => {
      const { id, secret } = await calls.write(contract.webhooks.create, { url: endpoint, events: toOwnTypes(events), format: "resend" });
      return { object: "webhook", id, signing_secret: secret };
    },
  }),
  readOperation({
    path: "/webhooks",
    query: listQuery,
    run: (query, { read }) => answerList(query, (page) => read(contract.webhooks.list, page), showWebhook),
  }),
  readOperation({
    path: "/webhooks/:id",
    run: async ({ id }, { read, rows, deps, workspaceId }) => {
      const shown = showWebhook(await read(contract.webhooks.get, { id }));
      return { object: "webhook", ...shown, signing_secret: await readWebhookSecret(rows, deps, workspaceId, id) };
    },
  }),
  writeOperation({
    method: "PATCH",
    path: "/webhooks/:id",
    note: NOTE,
    body: z.object({ endpoint: z.string().nullish(), events: Events.nullish(), status: z.enum(["enabled", "disabled"]).nullish() }),
    run: async ({ id, endpoint, events, status }, calls) => {
      await calls.write(contract.webhooks.update, {
        id,
        ...(endpoint && { url: endpoint }),
        ...(events && { events: toOwnTypes(events) }),
      });
      if (status) await switchWebhook(id, status, calls);
      return { object: "webhook", id };
    },
  }),
  writeOperation({
    method: "POST",
    path: "/webhooks/:id/signing-secret/rotate",
    note: "for a day, the old secret signs too",
    confidential: true,
    run: async ({ id }, { write }) => {
      const { secret } = await write(contract.webhooks.rotateSecret, { id });
      return { object: "webhook", id, signing_secret: secret };
    },
  }),
  writeOperation({
    method: "DELETE",
    path: "/webhooks/:id",
    run: async ({ id }, { write }) => {
      await write(contract.webhooks.delete, { id });
      return { object: "webhook", id, deleted: true };
    },
  }),
];

/** A webhook that is disabled there is paused here: what happens meanwhile waits for it. */
async function switchWebhook(id: string, status: "enabled" | "disabled", { write }: Writes): Promise<void> {
  await write(status === "enabled" ? contract.webhooks.resume : contract.webhooks.pause, { id });
}

/** Our types of events for those of Resend. Throws ApiError validation_error for one that Resend does not have, or when none is left. */
function toOwnTypes(events: readonly string[]): string[] {
  const own = events.flatMap((type, i) => {
    const found = Object.hasOwn(RESEND_EVENTS, type) ? RESEND_EVENTS[type] : undefined;
    if (found) return found;
    throw invalid(
      `events[${i}]`,
      "unknown_event_type",
      `events[${i}]: ${JSON.stringify(type.slice(0, 60))} is no type of event of Resend.`,
    );
  });
  if (own.length === 0) throw invalid("events", "unsupported", "events: there are no events of domains, topics and shared inboxes here.");
  return own;
}

function showWebhook({ id, url, events, status, createdAt }: Webhook) {
  return {
    id,
    endpoint: url,
    events: listResendTypes(events),
    status: status === "enabled" ? "enabled" : "disabled",
    created_at: createdAt,
  };
}
