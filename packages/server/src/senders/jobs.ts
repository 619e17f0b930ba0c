import { findRows } from "../db/find.ts";
import { HOUR, MINUTE } from "../lib/units.ts";
import { hidePlacesOf } from "../mail/hide-places.ts";
import { recordDeliveries } from "../mail/mailer.ts";
import type { JobHandler } from "../queue/queue.ts";
import { buildConfirmationMail, readRequest } from "./confirmation.ts";
import { lookForRecord } from "./dns.ts";
import { findRival } from "./one-workspace.ts";
import { recordLook, recordVerification, type SenderDeps, type SenderRow } from "./senders.ts";

// A record may be published late, so the check is repeated every five minutes for three days.
const CHECK_EVERY = 5 * MINUTE;
const CHECK_FOR = 72 * HOUR;

/** Checks a domain's record until it is there. */
export function checkSender(deps: SenderDeps): JobHandler {
  return async ({ payload }) => {
    const row = await findPending(deps, payload.senderId);
    if (!row) return {};
    const found = await lookForRecord(deps, row);
    const look = { ...found, fault: found.fault ?? (await findRival(deps.db.read, row)) };
    const next = deps.clock.now() + CHECK_EVERY;
    return {
      // It may have been verified without DNS, or removed, while the name servers were asked.
      commit: async (tx) => {
        const [now] = await findRows(tx, tx.t.senders, { id: row.id });
        if (now?.status === "PENDING") await recordLook(tx, deps, now, look);
      },
      ...(look.fault !== null && next < row.createdAt + CHECK_FOR && { again: next }),
    };
  };
}

/** Sends the email that confirms an address. */
export function sendConfirmation(deps: SenderDeps): JobHandler {
  return async ({ payload, attempt }) => {
    const row = await findPending(deps, payload.senderId);
    if (!row) return {};
    const receipt = hidePlacesOf(
      await deps.mailer.send(buildConfirmationMail(deps, row, await readRequest(deps.db.read, deps, row), attempt)),
    );
    if (receipt.outcome === "sent") return {};
    if (receipt.outcome === "delivered") {
      const { record } = receipt;
      return record ? { commit: (tx) => recordDeliveries(tx, [record]) } : {};
    }
    const fault = `The confirmation email was not delivered: ${receipt.error.message}`;
    // Trying again does not help after a bounce; a later `verify` sends a new email.
    if (receipt.outcome === "bounced") return { commit: async (tx) => void (await recordVerification(tx, deps, row, fault)) };
    throw new Error(fault);
  };
}

async function findPending({ db }: SenderDeps, senderId: unknown): Promise<SenderRow | null> {
  const { senders } = db.read.t;
  const [row] = await findRows(db.read, senders, { id: String(senderId) });
  return row?.status === "PENDING" ? row : null;
}
