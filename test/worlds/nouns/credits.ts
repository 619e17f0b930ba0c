import { find, type Noun } from "../noun.ts";
import type { Pick as Chances } from "../script.ts";
import type { Thing, Universe } from "../universe.ts";
import { agentOf, clientOf, payMonth } from "./agents.ts";

const DAY = 86_400_000;

/** The begin of the month around an instant, counted from the day of a birth; from the last day of a month that is too short for it. */
function startOfMonth(birth: string, now: number): number {
  const born = new Date(birth);
  const after = (months: number): number => {
    const last = new Date(Date.UTC(born.getUTCFullYear(), born.getUTCMonth() + months + 1, 0)).getUTCDate();
    return new Date(birth).setUTCMonth(born.getUTCMonth() + months, Math.min(born.getUTCDate(), last));
  };
  let months = 0;
  while (after(months + 1) <= now) months += 1;
  return after(months);
}

/** Credits that an agent has spent this month and not given back, by the ledger of its brand. Null if that was not answered. */
async function countSpent(u: Universe, { tenant, id }: Thing): Promise<number | null> {
  const sdk = u.sdk(tenant);
  const entries = await u.value(() => sdk.credits.list({ activationId: id, limit: 100 }).toArray());
  const agent = await u.value(() => sdk.activations.get(id));
  if (entries === null || agent === null) return null;
  const since = startOfMonth(agent.createdAt, u.now());
  const spent = entries.filter(({ kind, createdAt }) => kind === "consume" && Date.parse(createdAt) >= since);
  const back = entries.filter(({ refundOf }) => spent.some((one) => one.id === refundOf));
  return -[...spent, ...back].reduce((sum, { amount }) => sum + amount, 0);
}

/** Spends credits as an agent, and says whether that was accepted above its limit or refused below it. */
async function spend(u: Universe, agent: Thing, amount: number): Promise<string | null> {
  const { credits } = clientOf(u, agent);
  const before = await u.value(() => credits.get());
  if (before === null) return null;
  const { balance, periodLimit, periodUsed } = before;
  const used = await countSpent(u, agent);
  const spent = await u.call(() => credits.consume({ amount, action: "draft-page" }));
  if (used === null || u.rewound) return null;
  const limit = periodLimit ?? Number.POSITIVE_INFINITY;
  if (periodUsed !== used) u.ledger.note("sums", `${agent.label} has used ${periodUsed} credits this month, and its entries say ${used}.`);
  const isRefused = "refused" in spent && spent.refused === "insufficient_credits";
  const isCovered = used + amount <= limit && amount <= balance;
  if (isRefused ? isCovered : "value" in spent && !isCovered)
    u.ledger.note(
      "sums",
      `${agent.label} has ${balance} credits, used ${used} of ${limit} this month, and ${isRefused ? "could not" : "could"} spend ${amount}.`,
    );
  return "value" in spent ? spent.value.transactionId : null;
}

/** Lets the next month of an agent begin, for which its listing is paid. */
async function passMonth(u: Universe, { also }: Thing): Promise<void> {
  await payMonth(u, also["slug"] ?? "");
  await u.pass(32 * DAY);
}

/** Sets how much an agent may spend in a month, and lets it try to spend more. Returns whether it has spent something. */
async function spendAll(u: Universe, agent: Thing, pick: Chances): Promise<boolean> {
  const { activations } = u.sdk(agent.tenant);
  await u.call(() => activations.update(agent.id, { creditLimit: pick.of(10, 15, 20, null) }));
  await u.call(() => u.sdk(agent.tenant).credits.grant({ amount: 20 }));
  if (pick.oneIn(4)) await passMonth(u, agent);
  let hasSpent = false;
  for (let i = pick.int(3, 5); i > 0; i -= 1) {
    const transaction = await spend(u, agent, pick.int(2, 8));
    hasSpent ||= transaction !== null;
    // It gives some of it back.
    if (transaction !== null && pick.oneIn(3))
      await u.call(() => clientOf(u, agent).credits.refund(transaction, { reason: "too much", ...(pick.oneIn(2) && { amount: 1 }) }));
  }
  return hasSpent;
}

/** Limits of what agents may spend. */
export const CREDIT_NOUNS = {
  allowance: {
    make: async (making) => {
      const agent = find(making, "agent");
      if (!agent || !(await spendAll(making.universe, agent, making.pick))) return null;
      return { id: making.label, also: { agent: agent.label } };
    },
    verbs: {
      edit: async (u, thing, pick) => {
        const agent = agentOf(u, thing);
        return agent ? spendAll(u, agent, pick) : false;
      },
      // In the next month it may spend as much again.
      duplicate: async (u, thing, pick) => {
        const agent = agentOf(u, thing);
        if (agent) await passMonth(u, agent);
        return agent ? spendAll(u, agent, pick) : false;
      },
    },
  },
} satisfies Record<string, Noun>;
