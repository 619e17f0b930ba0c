import type { ListMetadata, Page } from "@mailsvc/sdk/contract";
import { and, eq, inArray, isNull, sum } from "drizzle-orm";
import type { Reader } from "../../db/db.ts";
import { listPage, type PageInput } from "../../db/pagination.ts";
import { notFound } from "../../lib/api-error.ts";
import { iso } from "../../lib/clock.ts";
import type { AgentHandlers, AgentTables } from "../agent-access.ts";

/** The names and sizes of the brand's lists, for its agents. Members and addresses stay out of reach. */
export const agentListHandlers: AgentHandlers<"lists"> = {
  list: (input, { read, workspaceId }) => listListMetadata(read, workspaceId, input),
  get: ({ id }, { read, workspaceId }) => getListMetadata(read, workspaceId, id),
};

interface ListRow {
  id: string;
  name: string;
  description: string | null;
  createdAt: number;
  updatedAt: number;
}

/** A page of the brand's lists with their sizes, newest first. */
async function listListMetadata(read: Reader<AgentTables>, workspaceId: string, input: PageInput): Promise<Page<ListMetadata>> {
  const { lists: t } = read.t;
  const where = whereExisting(read.t, workspaceId);
  const page = await listPage(read, input, { table: t, columns: readableColumns(read.t), where, toItem: (row) => row });
  return { ...page, data: await withCounts(read, page.data) };
}

/** One list with its size. Throws ApiError not_found. */
async function getListMetadata(read: Reader<AgentTables>, workspaceId: string, id: string): Promise<ListMetadata> {
  const { lists: t } = read.t;
  const rows = await read
    .select(readableColumns(read.t))
    .from(t)
    .where(and(whereExisting(read.t, workspaceId), eq(t.id, id)));
  const [list] = await withCounts(read, rows);
  if (!list) throw notFound("list", id);
  return list;
}

/** The columns an agent may read. The sender of confirmation mails is an address, so it is not selected. */
function readableColumns({ lists: t }: AgentTables) {
  return {
    id: t.id,
    name: t.name,
    description: t.description,
    createdAt: t.createdAt,
    updatedAt: t.updatedAt,
  };
}

function whereExisting({ lists: t }: AgentTables, workspaceId: string) {
  return and(eq(t.workspaceId, workspaceId), isNull(t.deletedAt));
}

async function withCounts(read: Reader<AgentTables>, rows: readonly ListRow[]): Promise<ListMetadata[]> {
  if (rows.length === 0) return [];
  const { counters: t } = read.t;
  const counts = await read
    .select({ owner: t.owner, count: sum(t.count).mapWith(Number) })
    .from(t)
    .where(
      and(
        inArray(
          t.owner,
          rows.map(({ id }) => id),
        ),
        eq(t.kind, "MEMBER"),
      ),
    )
    .groupBy(t.owner);
  const members = new Map(counts.map(({ owner, count }) => [owner, count ?? 0]));
  return rows.map(({ id, name, description, createdAt, updatedAt }) => ({
    id,
    name,
    description,
    contactCount: members.get(id) ?? 0,
    createdAt: iso(createdAt),
    updatedAt: iso(updatedAt),
  }));
}
