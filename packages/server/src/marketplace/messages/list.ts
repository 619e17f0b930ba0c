import type { ApprovalStatus, Message, Page } from "@mailsvc/sdk/contract";
import { and, asc, desc, eq, gt, gte, lt, lte, or, type SQL } from "drizzle-orm";
import type { Reader } from "../../db/db.ts";
import { countQuery, countRows, ONE, type PageInput, paginateAscending, paginateById, type Total } from "../../db/pagination.ts";
import type { AgentTables } from "../agent-access.ts";
import { showMessage } from "./store.ts";

interface MessageFilter extends PageInput {
  type?: Message["type"] | undefined;
  direction?: Message["direction"] | undefined;
  status?: ApprovalStatus | undefined;
  runId?: string | undefined;
  since?: string | undefined;
  afterSequence?: number | undefined;
}

/** The messages of an activation, newest first; with `afterSequence`, oldest first. */
export function listMessages(read: Reader<AgentTables>, activationId: string, now: number, input: MessageFilter): Promise<Page<Message>> {
  const { messages: m, approvals: p } = read.t;
  const { type, direction, runId, since, afterSequence } = input;
  const ofMessage = and(
    type === undefined ? undefined : eq(m.type, type),
    direction === undefined ? undefined : eq(m.direction, direction),
    runId === undefined ? undefined : eq(m.runId, runId),
    since === undefined ? undefined : gte(m.createdAt, Date.parse(since)),
    afterSequence === undefined ? undefined : gt(m.sequence, afterSequence),
  );
  // Few messages are approvals in a given state, so start from their index: 1 ms instead of 20 among 5,000 messages.
  const where =
    input.status === undefined
      ? and(eq(m.activationId, activationId), ofMessage)
      : and(eq(p.activationId, activationId), whereStatus(read.t, input.status, now), ofMessage);
  const found = (also: SQL | undefined, order: SQL, limit: number, offset: number) => {
    const columns = read.select({ message: m, approval: p });
    const rows =
      input.status === undefined ? columns.from(m).leftJoin(p, eq(p.messageId, m.id)) : columns.from(m).innerJoin(p, eq(p.messageId, m.id));
    return rows.where(and(where, also)).orderBy(order).limit(limit).offset(offset);
  };
  const total = (): Promise<Total> =>
    input.status === undefined
      ? countRows(read, m, where)
      : countQuery(read, read.select(ONE).from(p).innerJoin(m, eq(m.id, p.messageId)).where(where));
  if (afterSequence !== undefined)
    return paginateAscending(
      input,
      afterSequence,
      async ({ above, limit, offset }) =>
        (await found(gt(m.sequence, above), asc(m.sequence), limit, offset)).map((row) => ({ seq: row.message.sequence, ...row })),
      total,
      (row) => showMessage(row, now),
    );
  return paginateById(
    input,
    async ({ before, limit, offset }) =>
      (await found(before === null ? undefined : lt(m.id, before), desc(m.id), limit, offset)).map((row) => ({
        id: row.message.id,
        ...row,
      })),
    total,
    (row) => showMessage(row, now),
  );
}

/** Condition for approvals in a state as it counts now. */
function whereStatus({ approvals: p }: AgentTables, status: ApprovalStatus | undefined, now: number): SQL | undefined {
  if (status === undefined) return undefined;
  if (status === "PENDING") return and(eq(p.status, "PENDING"), gt(p.expiresAt, now));
  if (status === "EXPIRED") return or(eq(p.status, "EXPIRED"), and(eq(p.status, "PENDING"), lte(p.expiresAt, now)));
  return eq(p.status, status);
}
