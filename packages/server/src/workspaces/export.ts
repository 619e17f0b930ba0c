import type { contract, HandlerInput, Page, WorkspaceRow } from "@mailsvc/sdk/contract";
import { asc, type Column, getTableColumns, type SQL } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import { foreignCursor } from "../db/pagination.ts";
import { listKey } from "../db/table-key.ts";
import { invalid } from "../lib/api-error.ts";
import { listOwnedTables, type OwnedTable, type WorkspaceDataByTable } from "./declarations.ts";
import { findSlice, type RowKey } from "./owned-rows.ts";
import { getWorkspace } from "./workspaces.ts";

// Rows with bytes on a page: files are in parts of up to some hundred kilobytes.
const WITH_BYTES = 10;
// Windows of rows looked at for a page.
const LOOKS = 10;

interface Position {
  readonly table: string;
  readonly after: RowKey | null;
}

/**
 * A page of all rows of a workspace, table by table, without secrets. A page may be short, or empty, before the last one. Throws ApiError
 * not_found, or validation_error for a page number.
 */
export async function exportWorkspace(
  read: Reader,
  data: WorkspaceDataByTable,
  { id, page, limit, cursor }: HandlerInput<typeof contract.workspaces.export>,
): Promise<Page<WorkspaceRow>> {
  await getWorkspace(read, id);
  if (page > 1) throw invalid("page", "no_pages", "An export has no page numbers. Continue with pagination.nextCursor as cursor.");
  const tables = listOwnedTables(data).filter(({ isExported }) => isExported);
  let position = cursor === undefined ? toPosition(tables[0]) : parseCursor(cursor, tables);
  const rows: WorkspaceRow[] = [];
  for (let looks = 0; position !== null && rows.length < limit && looks < LOOKS + tables.length; looks += 1) {
    const { table: name, after }: Position = position;
    const index = tables.findIndex((one) => one.name === name);
    const table = tables[index] as OwnedTable;
    const most = hasBytes(read, table) ? Math.min(limit, WITH_BYTES) : limit;
    if (rows.length > 0 && most < limit) break;
    const slice = await findSlice(read, table, id, after, Math.min(most, limit - rows.length));
    if (slice.where !== null) rows.push(...(await readRows(read, table, slice.where)));
    position = slice.next ? { table: name, after: slice.next } : toPosition(tables[index + 1]);
    if (rows.length > 0 && most < limit) break;
  }
  const nextCursor = position === null ? null : Buffer.from(JSON.stringify([position.table, position.after])).toString("base64url");
  const more = position === null ? {} : { totalIsMinimum: true as const };
  return {
    data: rows,
    pagination: { page: 1, limit, total: rows.length, ...more, totalPages: 1, hasMore: position !== null, nextCursor },
  };
}

function toPosition(table: OwnedTable | undefined): Position | null {
  return table ? { table: table.name, after: null } : null;
}

function parseCursor(cursor: string, tables: readonly OwnedTable[]): Position {
  try {
    const [table, after] = JSON.parse(Buffer.from(cursor, "base64url").toString()) as [string, RowKey | null];
    const isKey =
      after === null || (Array.isArray(after) && after.every((value) => ["string", "number", "boolean"].includes(typeof value)));
    if (isKey && tables.some(({ name }) => name === table)) return { table, after };
  } catch {
    // Handled like any other text that is no cursor.
  }
  throw foreignCursor();
}

function hasBytes(read: Reader, { name, hidden }: OwnedTable): boolean {
  const columns = Object.entries<Column>(getTableColumns(read.t[name]));
  return columns.some(([column, { dataType }]) => dataType === "buffer" && !hidden.includes(column));
}

async function readRows(read: Reader, { name, hidden }: OwnedTable, where: SQL): Promise<WorkspaceRow[]> {
  const t = read.t[name as "meta"];
  const columns: Readonly<Record<string, Column>> = getTableColumns(t);
  const shown = Object.fromEntries(Object.entries(columns).filter(([column]) => !hidden.includes(column)));
  const order = listKey(t).map((column) => asc(columns[column] as Column));
  const rows: Record<string, unknown>[] = await read
    .select(shown as never)
    .from(t)
    .where(where)
    .orderBy(...order);
  return rows.map((row) => ({
    table: name,
    row: Object.fromEntries(Object.entries(row).map(([column, value]) => [column, toJson(value)])),
  }));
}

/** Bytes are in base64. */
function toJson(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value;
}
