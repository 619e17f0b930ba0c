import { CustomFields, contract, explainMissingDate } from "@mailsvc/sdk/contract";
import { and, desc, eq, or } from "drizzle-orm";
import * as z from "zod";
import { UniqueViolation } from "../../db/errors.ts";
import { listPage } from "../../db/pagination.ts";
import { ApiError, invalid, notFound } from "../../lib/api-error.ts";
import { iso } from "../../lib/clock.ts";
import { drop, type Operation, type Reads, readOperation, writeOperation } from "../operation.ts";
import { type DialectTables, EVENT_FIELD_TYPES, type EventFieldType } from "../tables.ts";
import { idOf } from "./ids.ts";
import { answerList, listQuery } from "./lists.ts";

type Row = DialectTables["eventDefinitions"]["$inferSelect"];

const MAX_EVENTS = 500;
const Schema = z
  .record(z.string().min(1).max(100), z.enum(EVENT_FIELD_TYPES))
  .refine((fields) => Object.keys(fields).length <= 100, "schema must have at most 100 fields.")
  .nullish();
const Name = z
  .string()
  .max(100)
  .refine((name) => !name.startsWith("resend:"), "name must not begin with resend:, which Resend keeps for itself.");

const DATE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d|$)/;
const KINDS: Readonly<Record<EventFieldType, string>> = {
  string: "a string",
  number: "a number",
  boolean: "true or false",
  date: "a date such as 2030-01-31, or one with a time",
};

/**
 * Events that programs report, which start automations, and their definitions: the types of the fields that an event of that name may have.
 * No endpoint of the contract has definitions, so the permissions are those of the events that they describe.
 */
export const customEventOperations: readonly Operation[] = [
  writeOperation({
    method: "POST",
    path: "/events/send",
    note: "events need not be defined before; the contact must exist",
    body: z.object({
      event: z.string(),
      contact_id: idOf("contacts").nullish(),
      email: z.string().nullish(),
      payload: CustomFields.nullish(),
    }),
    reshape: (body) => ({ status: 202, body }),
    run: async ({ event, contact_id, email, payload }, calls) => {
      const contact = contact_id || email;
      if (!contact) throw invalid("contact_id", "required", "Missing `contact_id` or `email` field.");
      assertPayload(payload ?? {}, (await findDefinition(event, calls))?.schema ?? {});
      await calls.write(contract.events.track, { name: event, contact, ...drop({ properties: payload }) });
      return { object: "event", event };
    },
  }),
  writeOperation({
    method: "POST",
    path: "/events",
    body: z.object({ name: Name, schema: Schema }),
    status: 201,
    run: async ({ name, schema = null }, calls) => {
      calls.authorize(contract.events.track);
      if (name === "") throw invalid("name", "required", "Missing `name` field.");
      const { tx, deps, workspaceId } = calls;
      const { eventDefinitions: t } = tx.t;
      if ((await tx.$count(t, eq(t.workspaceId, workspaceId))) >= MAX_EVENTS)
        throw new ApiError("limit_reached", `A workspace can have at most ${MAX_EVENTS} definitions of events.`);
      const id = deps.ids("evd");
      try {
        await tx.insert(t).values({ id, workspaceId, name, schema, createdAt: deps.clock.now(), updatedAt: null });
      } catch (error) {
        if (error instanceof UniqueViolation) throw new ApiError("conflict", `There is an event ${name} already.`);
        throw error;
      }
      return { object: "event", id };
    },
  }),
  readOperation({
    path: "/events",
    query: listQuery,
    run: async (query, calls) => {
      calls.authorize(contract.events.list);
      const { eventDefinitions: table } = calls.rows.t;
      const where = eq(table.workspaceId, calls.workspaceId);
      const load = (page: { limit: number; cursor?: string }) =>
        listPage(calls.rows, { page: 1, ...page }, { table, where, toItem: (row) => row });
      return answerList(query, load, showDefinition);
    },
  }),
  readOperation({
    path: "/events/:id",
    run: async ({ id }, calls) => {
      calls.authorize(contract.events.list);
      return { object: "event", ...showDefinition(await getDefinition(id, calls)) };
    },
  }),
  writeOperation({
    method: "PATCH",
    path: "/events/:id",
    body: z.object({ schema: Schema }),
    run: async ({ id: named, schema = null }, calls) => {
      calls.authorize(contract.events.track);
      const { id } = await getDefinition(named, calls);
      const { eventDefinitions: t } = calls.tx.t;
      await calls.tx.update(t).set({ schema, updatedAt: calls.deps.clock.now() }).where(eq(t.id, id));
      return { object: "event", id };
    },
  }),
  writeOperation({
    method: "DELETE",
    path: "/events/:id",
    run: async ({ id: named }, calls) => {
      calls.authorize(contract.events.track);
      const { id } = await getDefinition(named, calls);
      const { eventDefinitions: t } = calls.tx.t;
      await calls.tx.delete(t).where(eq(t.id, id));
      return { object: "event", id, deleted: true };
    },
  }),
];

/** Throws ApiError validation_error for a field of another type than its event was defined with. Other fields may be anything. */
function assertPayload(payload: Readonly<Record<string, unknown>>, schema: NonNullable<Row["schema"]>): void {
  for (const [name, type] of Object.entries(schema)) {
    const value = payload[name];
    if (value === undefined || value === null) continue;
    const fits =
      type === "date"
        ? typeof value === "string" && DATE.test(value) && explainMissingDate(value) === null && !Number.isNaN(Date.parse(value))
        : typeof value === type;
    if (!fits) throw invalid(`payload.${name}`, "invalid_type", `payload.${name} must be ${KINDS[type]}, as the event was defined.`);
  }
}

/** A definition by its name or its id; null if there is none. */
async function findDefinition(named: string, { rows, workspaceId }: Reads): Promise<Row | null> {
  const { eventDefinitions: t } = rows.t;
  const [row] = await rows
    .select()
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), or(eq(t.name, named), eq(t.id, named))))
    .orderBy(desc(t.id))
    .limit(1);
  return row ?? null;
}

async function getDefinition(named: string, calls: Reads): Promise<Row> {
  const row = await findDefinition(named, calls);
  if (row === null) throw notFound("event", named);
  return row;
}

function showDefinition({ id, name, schema, createdAt, updatedAt }: Row) {
  return { id, name, schema, created_at: iso(createdAt), updated_at: updatedAt === null ? null : iso(updatedAt) };
}
