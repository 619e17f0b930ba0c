import { type AgentMessage, APPROVAL_STATUSES, type ApprovalStatus, type Page } from "@mailsvc/sdk/contract";
import { and, desc, eq, gt, inArray, isNull, lt, lte, type SQL } from "drizzle-orm";
import type { Reader } from "../../db/db.ts";
import { addTotals, countRows, type PageInput, paginateById } from "../../db/pagination.ts";
import { type MessageWithApproval, showMessage } from "./store.ts";
import type { MessageTables } from "./tables.ts";

/** Limits a list to one activation or one agent; all agents without either. */
interface AgentFilter {
  activationId?: string | undefined;
  agentSlug?: string | undefined;
}

/** Search of a list; `now` is in ms. */
interface Search {
  readonly read: Reader;
  readonly workspaceId: string;
  readonly now: number;
  readonly filter: AgentFilter;
}

/**
 * Rows that one index returns newest first. A list over all agents of a workspace merges a few of these, so that a page reads
 * only what it shows, and the total only walks indexes: 2 to 25 ms with 100,000 messages.
 */
interface OrderedSource {
  readonly table: MessageTables["approvals" | "messages"];
  readonly id: MessageTables["approvals"]["messageId"] | MessageTables["messages"]["id"];
  readonly where: SQL | undefined;
}

type FoundOfAgent = MessageWithApproval & { id: string; agentSlug: string; agentName: string };

/** The brand's inbox over all its agents: open approval requests and unread texts. */
export function listInbox(
  read: Reader,
  workspaceId: string,
  now: number,
  input: PageInput & AgentFilter & { type?: "TEXT" | "APPROVAL_REQUEST" | undefined },
): Promise<Page<AgentMessage>> {
  const search = { read, workspaceId, now, filter: input };
  const sources = [
    ...(input.type === "TEXT" ? [] : effectiveApprovals(search, "PENDING")),
    ...(input.type === "APPROVAL_REQUEST" ? [] : [unreadTexts(search)]),
  ];
  return mergeSources(search, sources, input);
}

/** Approval requests of all agents of a brand, in a state as it counts now. */
export function listApprovals(
  read: Reader,
  workspaceId: string,
  now: number,
  { status, ...input }: PageInput & AgentFilter & { status: ApprovalStatus | "ANY" },
): Promise<Page<AgentMessage>> {
  const search = { read, workspaceId, now, filter: input };
  // For any state the stored state is enough, and counts each request once.
  const sources = status === "ANY" ? APPROVAL_STATUSES.map((each) => storedApprovals(search, each)) : effectiveApprovals(search, status);
  return mergeSources(search, sources, input);
}

/** Condition for rows of the agents in the filter. */
function whereAgents({ read, workspaceId, filter: { activationId, agentSlug } }: Search, table: OrderedSource["table"]): SQL | undefined {
  const { activations: a, listings: l } = read.t;
  const named = (slug: string) =>
    read
      .select({ id: a.id })
      .from(a)
      .innerJoin(l, eq(l.id, a.listingId))
      .where(and(eq(a.workspaceId, workspaceId), eq(l.slug, slug)));
  return and(
    eq(table.workspaceId, workspaceId),
    activationId === undefined ? undefined : eq(table.activationId, activationId),
    agentSlug === undefined ? undefined : inArray(table.activationId, named(agentSlug)),
  );
}

/** Approvals in a state as stored. */
function storedApprovals(search: Search, status: ApprovalStatus, also?: SQL): OrderedSource {
  const { approvals: p } = search.read.t;
  return { table: p, id: p.messageId, where: and(whereAgents(search, p), eq(p.status, status), also) };
}

/** Approvals in a state as it counts now: an open one past its time has EXPIRED, even when no job has stored that yet. */
function effectiveApprovals(search: Search, status: ApprovalStatus): OrderedSource[] {
  const { expiresAt } = search.read.t.approvals;
  if (status === "PENDING") return [storedApprovals(search, "PENDING", gt(expiresAt, search.now))];
  const stored = storedApprovals(search, status);
  return status === "EXPIRED" ? [stored, storedApprovals(search, "PENDING", lte(expiresAt, search.now))] : [stored];
}

/** Texts of agents that the brand has not read. */
function unreadTexts(search: Search): OrderedSource {
  const { messages: m } = search.read.t;
  return { table: m, id: m.id, where: and(whereAgents(search, m), eq(m.direction, "outbound"), eq(m.type, "TEXT"), isNull(m.readAt)) };
}

/** These messages with their agents, newest first. */
function loadMessages(read: Reader, ids: readonly string[]): Promise<FoundOfAgent[]> {
  const { messages: m, approvals: p, activations: a, listings: l } = read.t;
  return read
    .select({ id: m.id, message: m, approval: p, agentSlug: l.slug, agentName: l.name })
    .from(m)
    .innerJoin(a, eq(a.id, m.activationId))
    .innerJoin(l, eq(l.id, a.listingId))
    .leftJoin(p, eq(p.messageId, m.id))
    .where(inArray(m.id, [...ids]))
    .orderBy(desc(m.id));
}

function mergeSources({ read, now }: Search, sources: readonly OrderedSource[], input: PageInput): Promise<Page<AgentMessage>> {
  return paginateById(
    input,
    async ({ before, limit, offset }) => {
      const newest = ({ table, id, where }: OrderedSource) =>
        read
          .select({ id })
          .from(table)
          .where(and(where, before === null ? undefined : lt(id, before)))
          .orderBy(desc(id))
          .limit(offset + limit);
      const found = (await Promise.all(sources.map(newest))).flat().map(({ id }) => id);
      const ids = found
        .sort()
        .reverse()
        .slice(offset, offset + limit);
      return ids.length === 0 ? [] : loadMessages(read, ids);
    },
    async () => addTotals(await Promise.all(sources.map(({ table, where }) => countRows(read, table, where)))),
    ({ agentSlug, agentName, ...found }) => ({ ...showMessage(found, now), agentSlug, agentName }),
  );
}
