import { type AgentCredits, CREDIT_LIMITS, type CreditEntry, type CreditTransaction, type contract } from "@mailsvc/sdk/contract";
import { and, eq, gte, lte, sql, sum } from "drizzle-orm";
import { findRows } from "../../db/find.ts";
import type { Handlers } from "../../http/handler.ts";
import { ApiError, notFound } from "../../lib/api-error.ts";
import { iso } from "../../lib/clock.ts";
import { findMonthAround } from "../../lib/month.ts";
import { HOUR } from "../../lib/units.ts";
import type { ActivationTables } from "../activations/tables.ts";
import type { AgentDeps, AgentHandlers, AgentQuery, AgentTx } from "../agent-access.ts";
import { type Actor, addCredits, getActiveRunRow } from "../runs/runs.ts";
import { type EntryRow, listEntries, listTransactions, showEntry, showTransaction } from "./ledger.ts";

type ActivationRow = ActivationTables["activations"]["$inferSelect"];

const REFUND_MS = CREDIT_LIMITS.refundHours * HOUR;

/** The balance of a workspace. */
async function getBalance(q: AgentQuery, workspaceId: string): Promise<number> {
  const { creditBalances: b } = q.t;
  const [row] = await findRows(q, b, { workspaceId });
  return row?.balance ?? 0;
}

type NewEntry = Omit<EntryRow, "id" | "createdAt">;

/** Adds credits to a workspace. Throws ApiError limit_reached when the balance would exceed its limit. */
async function grantCredits(
  tx: AgentTx,
  deps: AgentDeps,
  workspaceId: string,
  { amount, description = null }: { amount: number; description?: string | null | undefined },
): Promise<CreditEntry> {
  const balanceAfter = await addToBalance(tx, workspaceId, amount);
  if (balanceAfter === undefined)
    throw new ApiError("limit_reached", `A balance cannot exceed ${CREDIT_LIMITS.balance} credits.`, {
      details: [{ path: "amount", code: "balance_full", message: "The balance would exceed its limit." }],
      hint: "Grant fewer credits.",
    });
  const rest = { activationId: null, runId: null, action: null, units: null, refundOf: null };
  return showEntry(await appendEntry(tx, deps, { workspaceId, kind: "grant", amount, balanceAfter, description, ...rest }));
}

/** The balance, and what the agent may spend this month. */
async function showCredits(q: AgentQuery, { activationId, workspaceId }: Actor, now: number): Promise<AgentCredits> {
  const activation = await getActivationRow(q, activationId);
  const { used, resetsAt } = getPeriod(activation, now);
  return {
    balance: await getBalance(q, workspaceId),
    periodLimit: activation.creditLimit,
    periodUsed: used,
    resetsAt: iso(resetsAt),
  };
}

interface Consumption {
  amount: number;
  action: string;
  runId?: string | undefined;
  description?: string | undefined;
  units?: unknown;
}

/**
 * Spends credits of the brand, within its balance and the agent's monthly limit. Throws ApiError insufficient_credits,
 * not_found for an unknown run, and invalid_state for one that has ended.
 */
async function consumeCredits(
  tx: AgentTx,
  deps: AgentDeps,
  { activationId, workspaceId }: Actor,
  { amount, action, runId, description, units }: Consumption,
): Promise<CreditTransaction> {
  const now = deps.clock.now();
  if (runId !== undefined) await getActiveRunRow(tx, { activationId, runId }, deps.runClock.overdue());
  const { activations: a, creditBalances: b } = tx.t;
  const activation = await getActivationRow(tx, activationId);
  const { used, resetsAt } = getPeriod(activation, now);
  const { creditLimit } = activation;
  if (creditLimit !== null && used + amount > creditLimit)
    throw insufficientCredits(
      "period_limit",
      `This agent may use ${creditLimit} credits a month and has used ${used}; it cannot spend ${amount} more.`,
      `Its next month starts at ${iso(resetsAt)}; or ask the brand to raise the limit.`,
    );
  const [paid] = await tx
    .update(b)
    .set({ balance: sql`${b.balance} - ${amount}` })
    .where(and(eq(b.workspaceId, workspaceId), gte(b.balance, amount)))
    .returning({ balance: b.balance });
  if (!paid) throw insufficientCredits("balance", `This needs ${amount} credits, but the balance is ${await getBalance(tx, workspaceId)}.`);
  await tx
    .update(a)
    .set({ creditsUsed: used + amount, creditsResetAt: resetsAt })
    .where(eq(a.id, activationId));
  if (runId) await addCredits(tx, { activationId, runId }, amount);
  return showTransaction(
    await appendEntry(tx, deps, {
      workspaceId,
      activationId,
      runId: runId ?? null,
      kind: "consume",
      amount: -amount,
      balanceAfter: paid.balance,
      action,
      description: description ?? null,
      units: units ?? null,
      refundOf: null,
    }),
  );
}

/**
 * Refunds a transaction, fully or in parts, within a day. Throws ApiError not_found, invalid_state after that day or for a
 * refund, and already_refunded when less is left of it than asked for.
 */
async function refundCredits(
  tx: AgentTx,
  deps: AgentDeps,
  { activationId, workspaceId }: Actor,
  transactionId: string,
  { amount, reason }: { amount?: number | undefined; reason: string },
): Promise<CreditTransaction> {
  const now = deps.clock.now();
  const { activations: a, creditEntries: e } = tx.t;
  const [spent] = await findRows(tx, e, { id: transactionId, activationId });
  if (!spent) throw notFound("transaction", transactionId);
  if (spent.kind !== "consume") throw new ApiError("invalid_state", "This transaction is a refund. A refund cannot be refunded.");
  if (now >= spent.createdAt + REFUND_MS)
    throw new ApiError("invalid_state", `A transaction can be refunded within ${CREDIT_LIMITS.refundHours} hours.`, {
      details: [{ path: "transactionId", code: "refund_window_over", message: `It was made at ${iso(spent.createdAt)}.` }],
    });
  const activation = await getActivationRow(tx, activationId);
  const month = getPeriod(activation, now);
  const [back] = await tx
    .select({ sum: sum(e.amount) })
    .from(e)
    .where(eq(e.refundOf, spent.id));
  const left = -spent.amount - Number(back?.sum ?? 0);
  const given = amount ?? left;
  if (left === 0 || given > left)
    throw new ApiError(
      "already_refunded",
      left === 0 ? "This transaction is fully refunded." : `Only ${left} credits of this transaction are left to refund.`,
      {
        details: [{ path: "amount", code: "already_refunded", message: `${left} credits are left to refund.` }],
      },
    );
  const balanceAfter = await addToBalance(tx, workspaceId, given);
  if (balanceAfter === undefined)
    throw new ApiError("limit_reached", `A balance cannot exceed ${CREDIT_LIMITS.balance} credits.`, {
      hint: "Refund it once credits have been spent.",
    });
  await tx
    .update(a)
    .set({ creditsUsed: month.used - (spent.createdAt < month.from ? 0 : given), creditsResetAt: month.resetsAt })
    .where(eq(a.id, activationId));
  if (spent.runId !== null) await addCredits(tx, { activationId, runId: spent.runId }, -given);
  const { runId, action } = spent;
  return showTransaction(
    await appendEntry(tx, deps, {
      workspaceId,
      activationId,
      runId,
      kind: "refund",
      amount: given,
      balanceAfter,
      action,
      description: reason,
      units: null,
      refundOf: spent.id,
    }),
  );
}

async function appendEntry(tx: AgentTx, deps: AgentDeps, entry: NewEntry): Promise<EntryRow> {
  const row: EntryRow = { ...entry, id: deps.ids("ctx"), createdAt: deps.clock.now() };
  await tx.insert(tx.t.creditEntries).values(row);
  return row;
}

/** Adds to a balance and returns it; undefined when it would exceed the limit. */
async function addToBalance(tx: AgentTx, workspaceId: string, amount: number): Promise<number | undefined> {
  const { creditBalances: b } = tx.t;
  await tx.insert(b).values({ workspaceId, balance: 0 }).onConflictDoNothing();
  const [raised] = await tx
    .update(b)
    .set({ balance: sql`${b.balance} + ${amount}` })
    .where(and(eq(b.workspaceId, workspaceId), lte(b.balance, CREDIT_LIMITS.balance - amount)))
    .returning({ balance: b.balance });
  return raised?.balance;
}

/**
 * The current month of an activation, counted from the day it was turned on, and what it has used in it. A month that has
 * started stays the current one when the clock is set back.
 */
function getPeriod({ createdAt, creditsUsed, creditsResetAt }: ActivationRow, now: number) {
  const { from, until } = findMonthAround(createdAt, Math.max(now, creditsResetAt - 1));
  return { from, resetsAt: until, used: until === creditsResetAt ? creditsUsed : 0 };
}

async function getActivationRow(q: AgentQuery, id: string): Promise<ActivationRow> {
  const { activations: a } = q.t;
  const [row] = await findRows(q, a, { id });
  if (!row) throw notFound("activation", id);
  return row;
}

function insufficientCredits(code: string, message: string, hint?: string): ApiError {
  return new ApiError("insufficient_credits", message, {
    details: [{ path: "amount", code, message }],
    ...(hint !== undefined && { hint }),
  });
}

/** Credits, for the brand that buys them. */
export const creditHandlers: Handlers<typeof contract.credits, AgentDeps> = {
  get: async (_input, { read, workspaceId }) => ({ balance: await getBalance(read, workspaceId) }),
  grant: (input, { tx, deps, workspaceId }) => grantCredits(tx, deps, workspaceId, input),
  list: (input, { read, workspaceId }) => listEntries(read, workspaceId, input),
};

/** Credits, for the agent that spends them. */
export const agentCreditHandlers: AgentHandlers<"credits"> = {
  get: (_input, { read, deps, agent }) => showCredits(read, agent, deps.clock.now()),
  list: ({ activationId, ...input }, { read }) => listTransactions(read, activationId, input),
  consume: (input, { tx, deps, agent, header }) => {
    if (header("idempotency-key") === null)
      throw new ApiError("idempotency_key_required", "Spending credits requires an Idempotency-Key, so that a retry does not spend twice.");
    return consumeCredits(tx, deps, agent, input);
  },
  refund: ({ transactionId, ...input }, { tx, deps, agent }) => refundCredits(tx, deps, agent, transactionId, input),
};
