import type { Reader, Tx } from "../db/db.ts";
import { isSimulatedSuppressed } from "../mail/simulator.ts";
import { findSuppressed } from "../suppressions/suppressions.ts";
import type { DeliveryDeps } from "./deps.ts";
import type { Next } from "./next.ts";
import { suppressedOutcome } from "./outcome.ts";
import type { PendingMail } from "./transform.ts";

/**
 * The emails to addresses that were suppressed since they were accepted, because they bounced or unsubscribed, and those to the simulated
 * address that counts as suppressed.
 */
export async function listSuppressed(q: Reader | Tx, mails: readonly PendingMail[]): Promise<ReadonlySet<PendingMail>> {
  const refused = new Set<PendingMail>();
  const groups = Map.groupBy(mails, ({ email, contents }) => `${email.workspaceId} ${contents.bypassUnsubscribe}`);
  for (const group of groups.values()) {
    const [first] = group;
    if (!first) continue;
    const addresses = group.map((mail) => mail.email.toKey);
    const suppressed = await findSuppressed(q, first.email.workspaceId, addresses, first.contents);
    for (const mail of group) if (suppressed.has(mail.email.toKey) || isSimulatedSuppressed(mail.email.toKey)) refused.add(mail);
  }
  return refused;
}

/** Decides which of these emails are handed over, in their order: those whose address is not suppressed. Never throws. */
export async function checkSuppressed(deps: DeliveryDeps, mails: readonly PendingMail[]): Promise<Next[]> {
  try {
    const suppressed = await listSuppressed(deps.db.read, mails);
    const now = deps.clock.now();
    return mails.map((mail) =>
      suppressed.has(mail) ? { next: "settle", effect: suppressedOutcome(mail.email, now) } : { next: "handOver", mail },
    );
  } catch (error) {
    return mails.map(() => ({ next: "fail", error }));
  }
}
