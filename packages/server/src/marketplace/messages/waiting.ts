import { type AgentMessage, APPROVAL_STATUSES, type ApprovalStatus, type Page } from "@mailsvc/sdk/contract";
import { and, desc, eq, gt, inArray, isNull, lt, lte, type SQL } from "drizzle-orm";
import type { Reader } from "../../db/db.ts";
import { type PageInput, pageOf } from "../../db/page.ts";
import { type Found, showMessage } from "./store.ts";

/** Of which agents; all when neither is said. */
export interface AgentFilter {
  activationId?: string | undefined;
  agentSlug?: string | undefined;
}

/**
 * Messages that one index holds newest first. Lists over all agents of a workspace are merged from a few of these, so that a
 * page costs what it shows and counting no more than a walk over an index: 2 to 25 ms with 100 000 messages.
 */
interface Source {
  ids(before: string | null, limit: number): Promise<string[]>;
  count(): Promise<number>;
}

/** Activations of an agent in a workspace. */
const ofAgent = (read: Reader, workspaceId: string, slug: string) => {
  const { activations: a, listings: l } = read.t;
  return read
    .select({ id: a.id })
    .from(a)
    .innerJoin(l, eq(l.id, a.listingId))
    .where(and(eq(a.workspaceId, workspaceId), eq(l.slug, slug)));
};

/** Questions in a state, with what else must hold. */
const questions = (read: Reader, workspaceId: string, status: ApprovalStatus, filter: AgentFilter, also?: SQL): Source => {
  const { approvals: p } = read.t;
  const where = and(
    eq(p.workspaceId, workspaceId),
    eq(p.status, status),
    also,
    filter.activationId === undefined ? undefined : eq(p.activationId, filter.activationId),
    filter.agentSlug === undefined ? undefined : inArray(p.activationId, ofAgent(read, workspaceId, filter.agentSlug)),
  );
  return {
    ids: async (before, limit) => {
      const rows = await read
        .select({ id: p.messageId })
        .from(p)
        .where(and(where, before === null ? undefined : lt(p.messageId, before)))
        .orderBy(desc(p.messageId))
        .limit(limit);
      return rows.map(({ id }) => id);
    },
    count: () => read.$count(p, where),
  };
};

/** Questions in a state as it counts now: past its time an open one has expired, whether or not that was noted yet. */
const questionsNow = (read: Reader, workspaceId: string, status: ApprovalStatus, filter: AgentFilter, now: number): Source[] => {
  const { expiresAt } = read.t.approvals;
  const noted = (also?: SQL) => questions(read, workspaceId, status, filter, also);
  if (status === "PENDING") return [noted(gt(expiresAt, now))];
  if (status === "EXPIRED") return [noted(), questions(read, workspaceId, "PENDING", filter, lte(expiresAt, now))];
  return [noted()];
};

/** What agents wrote and the brand has not read. */
const unreadTexts = (read: Reader, workspaceId: string, filter: AgentFilter): Source => {
  const { messages: m } = read.t;
  const where = and(
    eq(m.workspaceId, workspaceId),
    eq(m.direction, "outbound"),
    eq(m.type, "TEXT"),
    isNull(m.readAt),
    filter.activationId === undefined ? undefined : eq(m.activationId, filter.activationId),
    filter.agentSlug === undefined ? undefined : inArray(m.activationId, ofAgent(read, workspaceId, filter.agentSlug)),
  );
  return {
    ids: async (before, limit) => {
      const rows = await read
        .select({ id: m.id })
        .from(m)
        .where(and(where, before === null ? undefined : lt(m.id, before)))
        .orderBy(desc(m.id))
        .limit(limit);
      return rows.map(({ id }) => id);
    },
    count: () => read.$count(m, where),
  };
};

type FoundOfAgent = Found & { id: string; agentSlug: string; agentName: string };

/** These messages, newest first, each with its agent. */
const load = (read: Reader, ids: readonly string[]): Promise<FoundOfAgent[]> => {
  const { messages: m, approvals: p, activations: a, listings: l } = read.t;
  return read
    .select({ id: m.id, message: m, approval: p, agentSlug: l.slug, agentName: l.name })
    .from(m)
    .innerJoin(a, eq(a.id, m.activationId))
    .innerJoin(l, eq(l.id, a.listingId))
    .leftJoin(p, eq(p.messageId, m.id))
    .where(inArray(m.id, [...ids]))
    .orderBy(desc(m.id));
};

const merged = (read: Reader, sources: readonly Source[], now: number, input: PageInput): Promise<Page<AgentMessage>> =>
  pageOf(
    input,
    async ({ before, limit, offset }) => {
      const found = await Promise.all(sources.map((source) => source.ids(before, offset + limit)));
      const ids = found
        .flat()
        .sort()
        .reverse()
        .slice(offset, offset + limit);
      return ids.length === 0 ? [] : load(read, ids);
    },
    async () => (await Promise.all(sources.map((source) => source.count()))).reduce((sum, n) => sum + n, 0),
    ({ agentSlug, agentName, ...found }) => ({ ...showMessage(found, now), agentSlug, agentName }),
  );

/** What waits for the brand, from all its agents: open questions, and texts it has not read. */
export const listWaiting = (
  read: Reader,
  workspaceId: string,
  now: number,
  input: PageInput & AgentFilter & { type?: "TEXT" | "APPROVAL_REQUEST" | undefined },
): Promise<Page<AgentMessage>> => {
  const sources = [
    ...(input.type === "TEXT" ? [] : questionsNow(read, workspaceId, "PENDING", input, now)),
    ...(input.type === "APPROVAL_REQUEST" ? [] : [unreadTexts(read, workspaceId, input)]),
  ];
  return merged(read, sources, now, input);
};

/** What the agents of a brand have asked, in a state as it counts now. */
export const listQuestions = (
  read: Reader,
  workspaceId: string,
  now: number,
  { status, ...input }: PageInput & AgentFilter & { status: ApprovalStatus | "ANY" },
): Promise<Page<AgentMessage>> => {
  // Of any state: as they were noted, each once.
  const sources =
    status === "ANY"
      ? APPROVAL_STATUSES.map((each) => questions(read, workspaceId, each, input))
      : questionsNow(read, workspaceId, status, input, now);
  return merged(read, sources, now, input);
};
