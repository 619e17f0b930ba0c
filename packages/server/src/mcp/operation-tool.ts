import type { Endpoint } from "@mailsvc/sdk/contract";
import { paramNames } from "@mailsvc/sdk/contract";
import * as z from "zod";
import { assertInput, type Me } from "./api.ts";
import { shorten } from "./mail-body.ts";
import { hasDefaultKey, isWrite, type Operation, takesIdempotencyKey } from "./operations.ts";
import { assertReach } from "./reach.ts";
import { type ObjectSchema, toObjectSchema } from "./schemas.ts";
import { type Needs, type Tool, type ToolContext, toText } from "./tool.ts";

// Number of items that a model can use at once; more come with the next page.
const PAGE = 20;

/** The argument of every write. */
export const IDEMPOTENCY_KEY = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/)
  .optional()
  .meta({
    description:
      "Calls with the same key take effect once. Mail sent without one has a key made of its arguments; give another to send the same again",
  });
const INCLUDE_HTML = z.boolean().optional().meta({ description: "Give HTML too, instead of its length" });

/** Answer to a write: the result of the operation, and the key with which it can be repeated safely. */
const writtenSchema = (result: z.ZodType) =>
  z.object({
    result,
    idempotencyKey: z.string().nullable().meta({ description: "The key of this call; null without one" }),
    replayed: z.boolean().meta({ description: "An earlier call with this key did it: this one changed nothing" }),
  });

/** Makes the tool of an operation that has one in the contract. Its arguments and results are those of the operation. */
export function makeOperationTool(operation: Operation & { readonly endpoint: { readonly tool: string } }): Tool {
  const { endpoint } = operation;
  const write = isWrite(endpoint);
  const keyed = takesIdempotencyKey(endpoint);
  const html = !write && HAS_HTML.test(JSON.stringify(toObjectSchema(z.object({ data: endpoint.output }), "output")));
  return {
    name: endpoint.tool,
    title: endpoint.summary,
    description: describe(endpoint),
    needs: toNeeds(operation),
    annotations: {
      readOnlyHint: !write,
      destructiveHint: endpoint.method === "DELETE" || endpoint.irreversible === true || endpoint.destructive === true,
      idempotentHint: !write || hasDefaultKey(endpoint),
      openWorldHint: endpoint.bucket === "send" || endpoint.callsOut === true,
    },
    inputSchema: buildInputSchema(endpoint, {
      ...(keyed && { idempotencyKey: IDEMPOTENCY_KEY }),
      ...(html && { includeHtml: INCLUDE_HTML }),
    }),
    outputSchema: toObjectSchema(write ? writtenSchema(endpoint.output) : endpoint.output, "output"),
    run: async ({ idempotencyKey, includeHtml, ...input }, context) => {
      const given = endpoint.query?.shape.limit === undefined ? input : { ...input, limit: limitPage(input.limit) };
      if (!write) {
        const data = shorten((await context.api.call(operation, given)).data, includeHtml === true) as Record<string, unknown>;
        return { data, text: toText(data) };
      }
      const data = await callWrite(operation, given, context, typeof idempotencyKey === "string" ? idempotencyKey : undefined);
      return { data, text: toText(data) };
    },
  };
}

const HAS_HTML = /"html":/;

/** True if no mail leaves the server. */
export async function capturesAll(me: () => Promise<Me>): Promise<boolean> {
  return (await me()).server.capturesMail;
}

/**
 * Calls a write after its limits were checked and a person has confirmed it, which dev mode does not ask for while all mail is captured.
 */
export async function callWrite(
  operation: Operation,
  input: Readonly<Record<string, unknown>>,
  { api, me, settings, confirmation }: ToolContext,
  idempotencyKey: string | undefined,
): Promise<{ result: unknown; idempotencyKey: string | null; replayed: boolean }> {
  assertInput(operation, input);
  if (!settings.dev || !(await capturesAll(me))) {
    const reach = await assertReach(operation, input, { api, settings });
    await confirmation.assert(operation, input, reach);
  }
  const { data, idempotencyKey: key, replayed } = await api.call(operation, input, idempotencyKey);
  return { result: shorten(data, false), idempotencyKey: key, replayed };
}

/** At most a page of items. */
export function limitPage(limit: unknown): number {
  return typeof limit === "number" && limit >= 1 && limit <= PAGE ? limit : PAGE;
}

/** The schema of all arguments of an operation: those of path, query and body by name. */
export function buildInputSchema(endpoint: Endpoint, more: z.ZodRawShape = {}): ObjectSchema {
  const params = z.object(Object.fromEntries(paramNames(endpoint.path).map((name) => [name, z.string()])));
  const limit =
    endpoint.query?.shape.limit === undefined ? {} : { limit: z.int().min(1).max(PAGE).optional().meta({ description: "Items per page" }) };
  const query = endpoint.query ? toObjectSchema(endpoint.query.extend(limit), "input") : null;
  const body = endpoint.body ? toObjectSchema(endpoint.body, "input") : null;
  const parts = [toObjectSchema(params, "input"), query, body, toObjectSchema(z.object(more), "input")].filter((part) => part !== null);
  const merge = (keyword: string): Record<string, unknown> =>
    Object.assign({}, ...parts.map((part) => part[keyword] ?? {})) as Record<string, unknown>;
  const required = parts.flatMap((part) => (Array.isArray(part.required) ? part.required : []));
  const definitions = merge("$defs");
  // Alternatives such as "html, text or both" stand next to the fields.
  const anyOf = body?.anyOf;
  return {
    type: "object",
    properties: merge("properties"),
    ...(required.length > 0 && { required }),
    ...(anyOf !== undefined && { anyOf }),
    additionalProperties: false,
    ...(Object.keys(definitions).length > 0 && { $defs: definitions }),
  };
}

function toNeeds({ endpoint }: Operation): Needs {
  if (endpoint.access === "dev") return "dev";
  return isWrite(endpoint) ? "writes" : "nothing";
}

function describe({ summary, description }: Endpoint): string {
  return description === undefined ? `${summary}.` : `${summary}. ${description}`;
}
