import type { CreditEntry, CreditKind, CreditTransaction, Page } from "@mailsvc/sdk/contract";
import { and, eq, ne } from "drizzle-orm";
import type { Reader } from "../../db/db.ts";
import { listPage, type PageInput } from "../../db/pagination.ts";
import { iso } from "../../lib/clock.ts";
import type { AgentTables } from "../agent-access.ts";
import type { CreditTables } from "./tables.ts";

export type EntryRow = CreditTables["creditEntries"]["$inferSelect"];

/** A ledger entry, as the brand sees it. */
export function showEntry(row: EntryRow): CreditEntry {
  return {
    id: row.id,
    kind: row.kind,
    amount: row.amount,
    balanceAfter: row.balanceAfter,
    activationId: row.activationId,
    runId: row.runId,
    action: row.action,
    description: row.description,
    refundOf: row.refundOf,
    createdAt: iso(row.createdAt),
  };
}

/** The same entry as its agent sees it: amounts have no sign. */
export function showTransaction(row: EntryRow): CreditTransaction {
  return {
    transactionId: row.id,
    kind: row.kind === "refund" ? "refund" : "consume",
    amount: Math.abs(row.amount),
    action: row.action,
    runId: row.runId,
    description: row.description,
    units: row.units,
    refundOf: row.refundOf,
    balanceAfter: row.balanceAfter,
    createdAt: iso(row.createdAt),
  };
}

interface LedgerFilter extends PageInput {
  activationId?: string | undefined;
  kind?: CreditKind | undefined;
}

/** The ledger of a workspace, newest first. */
export function listEntries(read: Reader<AgentTables>, workspaceId: string, input: LedgerFilter): Promise<Page<CreditEntry>> {
  const { creditEntries: e } = read.t;
  const where = and(
    eq(e.workspaceId, workspaceId),
    input.activationId === undefined ? undefined : eq(e.activationId, input.activationId),
    input.kind === undefined ? undefined : eq(e.kind, input.kind),
  );
  return listPage(read, input, { table: e, where, toItem: showEntry });
}

/** The transactions of one activation, newest first. */
export function listTransactions(
  read: Reader<AgentTables>,
  activationId: string,
  input: PageInput & { runId?: string | undefined },
): Promise<Page<CreditTransaction>> {
  const { creditEntries: e } = read.t;
  const where = and(
    eq(e.activationId, activationId),
    ne(e.kind, "grant"),
    input.runId === undefined ? undefined : eq(e.runId, input.runId),
  );
  return listPage(read, input, { table: e, where, toItem: showTransaction });
}
