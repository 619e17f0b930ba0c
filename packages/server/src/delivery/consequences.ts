import type { Tx } from "../db/db.ts";
import { assumeEmailHeld } from "../db/held.ts";
import { suppress } from "../suppressions/suppressions.ts";
import type { DeliveryDeps } from "./deps.ts";
import type { EmailOutcome } from "./outcome.ts";
import { REACT_JOB } from "./react.ts";

/**
 * Stores what follows from outcomes beyond the emails themselves; few have consequences.
 *
 * | outcome                                | consequence                                                       |
 * | -------------------------------------- | ----------------------------------------------------------------- |
 * | the mailbox does not exist             | the address is suppressed                                         |
 * | a simulated recipient reacts           | a job for each reaction                                           |
 * | skipped                                | its campaign counts it                                            |
 * | put back                               | its campaign releases it again, at once if it was resumed         |
 */
export async function storeConsequences(tx: Tx, deps: DeliveryDeps, outcomes: readonly EmailOutcome[]): Promise<void> {
  for (const outcome of outcomes) await storeConsequencesOf(tx, deps, outcome);
  const putBack = outcomes.flatMap(({ move, putBack: isBack }) => (isBack ? move.email : []));
  if (putBack.length > 0) await deps.deliveryHooks.putBack(tx, putBack);
  const skipped = outcomes.flatMap(({ move: { email, patch } }) => {
    const { campaignId, variant } = email;
    return campaignId !== null && patch.skipReason ? { campaignId, variant, reason: patch.skipReason } : [];
  });
  if (skipped.length > 0) await deps.deliveryHooks.skipped(tx, skipped);
}

async function storeConsequencesOf(tx: Tx, deps: DeliveryDeps, outcome: EmailOutcome): Promise<void> {
  const { move, reactions = [], invalidRecipient } = outcome;
  const { workspaceId, id, toKey } = move.email;
  if (invalidRecipient)
    await suppress(tx, deps, workspaceId, { email: toKey, reason: "bounce", scope: "all", source: "bounce", emailId: assumeEmailHeld(id) });
  for (const { type, afterMs } of reactions) {
    const payload = { workspaceId, emailId: id, type };
    await deps.queue.enqueue(tx, { kind: REACT_JOB, payload, runAt: move.patch.updatedAt + afterMs });
  }
}
