import { contract } from "@mailsvc/sdk/contract";
import { and, desc, eq } from "drizzle-orm";
import * as z from "zod";
import { UniqueViolation } from "../../db/errors.ts";
import { listPage } from "../../db/pagination.ts";
import { ApiError, invalid, notFound } from "../../lib/api-error.ts";
import { iso } from "../../lib/clock.ts";
import { type Operation, type Reads, readOperation, writeOperation } from "../operation.ts";
import type { DialectTables } from "../tables.ts";
import { answerList, listQuery } from "./lists.ts";

type Row = DialectTables["contactProperties"]["$inferSelect"];
type Value = string | number;

const MAX_PROPERTIES = 200;
const Fallback = z.union([z.string().max(1000), z.number()]).nullish();

/**
 * Properties of contacts: the types and fallbacks of custom fields, which may also be used without being declared. No endpoint of the
 * contract has them, so the permissions are those of the contacts they describe.
 */
export const contactPropertyOperations: readonly Operation[] = [
  writeOperation({
    method: "POST",
    path: "/contact-properties",
    body: z.object({
      key: z.string().regex(/^[A-Za-z]\w{0,49}$/, "key must be a letter, then letters, digits and _, up to 50."),
      type: z.enum(["string", "number"]),
      fallback_value: Fallback,
    }),
    status: 201,
    run: async ({ key, type, fallback_value: fallback }, calls) => {
      calls.authorize(contract.contacts.update);
      assertType(fallback ?? null, type, "fallback_value");
      const { tx, deps, workspaceId } = calls;
      const known = await listRows(calls);
      if (known.some((row) => row.key === key)) throw keyTaken(key);
      if (known.length >= MAX_PROPERTIES)
        throw new ApiError("limit_reached", `A workspace can have at most ${MAX_PROPERTIES} properties of contacts.`);
      const id = deps.ids("prop");
      try {
        await tx
          .insert(tx.t.contactProperties)
          .values({ id, workspaceId, key, type, fallback: toJson(fallback ?? null), createdAt: deps.clock.now() });
      } catch (error) {
        // Another request has declared it meanwhile.
        if (error instanceof UniqueViolation) throw keyTaken(key);
        throw error;
      }
      return { object: "contact_property", id };
    },
  }),
  readOperation({
    path: "/contact-properties",
    query: listQuery,
    run: async (query, calls) => {
      calls.authorize(contract.contacts.list);
      const { contactProperties: table } = calls.rows.t;
      const where = eq(table.workspaceId, calls.workspaceId);
      const load = (page: { limit: number; cursor?: string }) =>
        listPage(calls.rows, { page: 1, ...page }, { table, where, toItem: (row) => row });
      return answerList(query, load, showProperty);
    },
  }),
  readOperation({
    path: "/contact-properties/:id",
    run: async ({ id }, calls) => {
      calls.authorize(contract.contacts.get);
      return { object: "contact_property", ...showProperty(await getRow(id, calls)) };
    },
  }),
  writeOperation({
    method: "PATCH",
    path: "/contact-properties/:id",
    body: z.object({ fallback_value: Fallback }),
    run: async ({ id, fallback_value: fallback }, calls) => {
      calls.authorize(contract.contacts.update);
      const { type } = await getRow(id, calls);
      assertType(fallback ?? null, type, "fallback_value");
      const { contactProperties: t } = calls.tx.t;
      await calls.tx
        .update(t)
        .set({ fallback: toJson(fallback ?? null) })
        .where(eq(t.id, id));
      return { object: "contact_property", id };
    },
  }),
  writeOperation({
    method: "DELETE",
    path: "/contact-properties/:id",
    run: async ({ id }, calls) => {
      calls.authorize(contract.contacts.update);
      await getRow(id, calls);
      const { contactProperties: t } = calls.tx.t;
      await calls.tx.delete(t).where(eq(t.id, id));
      return { object: "contact_property", id, deleted: true };
    },
  }),
];

/** Throws ApiError validation_error for values of another type than their property was declared with. */
export async function checkProperties(properties: Readonly<Record<string, unknown>>, calls: Reads): Promise<void> {
  const rows = Object.keys(properties).length === 0 ? [] : await listRows(calls);
  for (const { key, type } of rows) if (Object.hasOwn(properties, key)) assertType(properties[key], type, `properties.${key}`);
}

/** The declared types, by the keys of their properties. */
export async function loadTypes(calls: Reads): Promise<ReadonlyMap<string, Row["type"]>> {
  return new Map((await listRows(calls)).map(({ key, type }) => [key, type]));
}

/** The declared fallbacks, by the keys of their properties. */
export async function loadFallbacks(calls: Reads): Promise<ReadonlyMap<string, Value>> {
  return new Map((await listRows(calls)).flatMap(({ key, fallback }) => (fallback === null ? [] : [[key, JSON.parse(fallback) as Value]])));
}

function keyTaken(key: string): ApiError {
  return new ApiError("conflict", `There is a property ${key} already.`);
}

function assertType(value: unknown, type: Row["type"], path: string): void {
  if (value === null || typeof value === type) return;
  throw invalid(path, "invalid_type", `${path} must be a ${type}, as the property was declared.`);
}

async function listRows({ rows, workspaceId }: Reads): Promise<Row[]> {
  const { contactProperties: t } = rows.t;
  return rows.select().from(t).where(eq(t.workspaceId, workspaceId)).orderBy(desc(t.id));
}

async function getRow(id: string, { rows, workspaceId }: Reads): Promise<Row> {
  const { contactProperties: t } = rows.t;
  const [row] = await rows
    .select()
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), eq(t.id, id)));
  if (!row) throw notFound("contact property", id);
  return row;
}

function toJson(value: Value | null): string | null {
  return value === null ? null : JSON.stringify(value);
}

function showProperty({ id, key, type, fallback, createdAt }: Row) {
  return { id, key, type, fallback_value: fallback === null ? null : (JSON.parse(fallback) as Value), created_at: iso(createdAt) };
}
