import type { EventType } from "@mailsvc/sdk/contract";
import { findEmail, transition } from "../emails/emails.ts";
import { recordEvents } from "../events/events.ts";
import type { JobHandler } from "../queue/queue.ts";
import { suppress } from "../suppressions/suppressions.ts";
import type { DeliveryDeps } from "./deps.ts";

/** The job that acts as a simulated recipient. */
export const REACT_JOB = "email.react";

/** Acts as a simulated recipient some time after delivery: opens, clicks or complains. */
export function reactToEmail(deps: DeliveryDeps): JobHandler {
  return async ({ payload }) => ({
    commit: async (tx) => {
      const full = await findEmail(tx, String(payload.workspaceId), String(payload.emailId));
      if (!full) return;
      const { email } = full;
      const { workspaceId, toKey, id, campaignId, contactId } = email;
      const type = payload.type as EventType;
      const at = deps.clock.now();
      if (type === "email.complained") {
        const move = { email, patch: { status: "complained" as const, updatedAt: at } };
        if (!(await transition(tx, deps, ["sent", "delivered"], move))) return;
        await suppress(tx, deps, workspaceId, { email: toKey, reason: "complaint", scope: "all", source: "complaint", emailId: id });
      }
      // Simulated recipients are people.
      const machine = type === "email.complained" ? null : false;
      await recordEvents(tx, deps, [{ workspaceId, type, emailId: id, campaignId, contactId, at, machine, data: { simulated: true } }]);
      const about = { workspaceId, email: toKey };
      if (type === "email.opened") await deps.engagementHooks.emailsEngaged(tx, [{ ...about, openedAt: at }]);
      if (type === "email.clicked") await deps.engagementHooks.emailsEngaged(tx, [{ ...about, clickedAt: at }]);
    },
  });
}
