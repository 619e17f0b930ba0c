import type { EventType } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import { findEmail, holdEmail, transition } from "../emails/emails.ts";
import { recordEvents } from "../events/events.ts";
import { isTestMail } from "../lib/ids.ts";
import { isOfSes } from "../mail/simulator.ts";
import type { JobHandler } from "../queue/queue.ts";
import { suppress } from "../suppressions/suppressions.ts";
import { findFirstTarget } from "../tracking/tracking.ts";
import type { DeliveryDeps } from "./deps.ts";
import { toPendingMail } from "./load.ts";
import { transformMails } from "./transform.ts";

/** The job that acts as a simulated recipient. */
export const REACT_JOB = "email.react";

type ReactDeps = DeliveryDeps & Parameters<typeof findFirstTarget>[0];

interface Reaction {
  readonly workspaceId: string;
  readonly emailId: string;
  readonly type: Extract<EventType, "email.opened" | "email.clicked" | "email.complained">;
  /** Target of a click. */
  readonly url: string | null;
}

/** Acts as a simulated recipient some time after delivery: opens, clicks the first link, or complains. */
export function reactToEmail(deps: ReactDeps): JobHandler {
  return async ({ payload }) => {
    const [workspaceId, emailId, type] = [
      String(payload.workspaceId),
      String(payload.emailId),
      payload.type as Reaction["type"] | "email.received",
    ];
    if (type === "email.received") {
      await answer(deps, workspaceId, emailId);
      return {};
    }
    const url = type === "email.clicked" ? await findLink(deps, workspaceId, emailId) : null;
    return { commit: (tx) => react(tx, deps, { workspaceId, emailId, type, url }) };
  };
}

async function react(tx: Tx, deps: ReactDeps, { workspaceId, emailId, type, url }: Reaction): Promise<void> {
  const full = await findEmail(tx, workspaceId, emailId);
  if (!full) return;
  const { email } = full;
  const { toKey, campaignId, contactId } = email;
  const at = deps.clock.now();
  const heldId = await holdEmail(tx, email);
  const data = { simulated: true, ...(url !== null && { url }) };
  if (type === "email.complained") {
    const move = { email, patch: { status: "complained" as const, updatedAt: at }, events: [{ type, data }] };
    if ((await transition(tx, deps, ["sent", "delivered"], move)) && !isTestMail(emailId) && !isOfSes(toKey))
      await suppress(tx, deps, workspaceId, { email: toKey, reason: "complaint", scope: "all", source: "complaint", emailId: heldId });
    return;
  }
  // Simulated recipients are people.
  await recordEvents(tx, deps, [{ workspaceId, type, emailId: heldId, campaignId, contactId, at, machine: false, data }]);
}

/** Lets the recipient answer. A job that runs twice makes the same reply, which is received once. */
async function answer(deps: ReactDeps, workspaceId: string, emailId: string): Promise<void> {
  const full = await findEmail(deps.db.read, workspaceId, emailId);
  const [made] = full ? await transformMails(deps, [toPendingMail(full.email, full.contents)]) : [];
  if (made && "mail" in made) await deps.deliveryHooks.answered(made.mail);
}

/** The first link of an email; null if its clicks are not tracked, or it has none. */
async function findLink(deps: ReactDeps, workspaceId: string, emailId: string): Promise<string | null> {
  const full = await findEmail(deps.db.read, workspaceId, emailId);
  const tracking = full?.contents.tracking;
  if (!full || !tracking?.clicks) return null;
  // As the recipient got it, but with the targets of its links.
  const plain = toPendingMail(full.email, { ...full.contents, tracking: null });
  const [made] = await transformMails(deps, [plain]);
  return made && "mail" in made && made.mail.html !== null ? findFirstTarget(deps, made.mail.html, tracking) : null;
}
