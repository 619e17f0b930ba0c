import { findWebhookRows, getWebhookRow, isReceiving } from "../../developer-webhooks/developer-webhooks.ts";
import { recordEvents } from "../../events/events.ts";
import { DONE, type StepKind, type StepResult } from "./step.ts";

/**
 * Sends `automation.webhook` to a webhook of the workspace. The event is recorded here, and delivered as all others are: signed, with
 * retries, and under an id that is the same on every attempt. The entry goes on without waiting for that.
 */
export const webhook: StepKind<"webhook"> = {
  perform: async ({ tx, deps, automation, now }, entries) => {
    const { id: automationId, workspaceId } = automation;
    const webhooks = await findWebhookRows(
      tx,
      workspaceId,
      entries.map(({ step }) => step.webhookId),
    );
    const results = entries.map(({ step }): StepResult => {
      const found = webhooks.get(step.webhookId);
      if (!found) return { outcome: "skipped", reason: "not_found" };
      return isReceiving(found) ? DONE : { outcome: "skipped", reason: "webhook_disabled" };
    });
    await recordEvents(
      tx,
      deps,
      entries
        .filter((_, i) => results[i] === DONE)
        .map(({ entry, contact, step }) => ({
          workspaceId,
          type: "automation.webhook",
          automationId,
          contactId: contact.id,
          at: now,
          data: { webhookId: step.webhookId, entryId: entry.id, stepId: step.id, ...(step.data && { data: step.data }) },
        })),
    );
    return results;
  },
  foresee: async ({ read, automation }, _traveller, step) =>
    isReceiving(await getWebhookRow(read, automation.workspaceId, step.webhookId)) ? {} : { skip: "webhook_disabled" },
};
