import { endpoint } from "./endpoint.ts";
import { ERROR_CODES } from "./errors.ts";
import { limits } from "./limits.ts";
import { Instant } from "./page.ts";
import * as z from "./zod.ts";

export const REQUEST_LIMITS = limits("requests", "Requests that dev mode keeps", {
  kept: [1000, "the latest, of all workspaces"],
  followers: [25, "connections that follow them"],
});

export const RequestRecord = z
  .object({
    id: z.string().meta({ description: "The id in the response header X-Request-Id" }),
    /** Its number: counts up in the order in which requests were answered. */
    sequence: z.int(),
    at: Instant,
    method: z.string(),
    /** The path without its query. Parts that could name a person or open something are shown as in `route`, or as `*`. */
    path: z.string(),
    /** The path of the endpoint, such as `/api/v1/emails/:id`; null if no endpoint has it. */
    route: z.string().nullable(),
    status: z.int(),
    /** The code of the error; null for a success. */
    error: z.enum(ERROR_CODES).nullable(),
    /** Time until the answer, in milliseconds of real time. */
    ms: z.number(),
    /** The key that the request came with; null for none. Without an id, it is none of this server. */
    key: z.object({ id: z.string().nullable(), name: z.string().nullable(), preview: z.string().nullable() }).nullable(),
  })
  .meta({ id: "RequestRecord" });
export type RequestRecord = z.infer<typeof RequestRecord>;

const read = { permission: "events:read" } as const;

const filters = {
  failed: z.stringbool().optional().meta({ description: "Only requests with an error, or only those without" }),
  key: z.string().max(200).optional().meta({ description: "Only requests with this key: its id, its name or its preview" }),
  path: z.string().startsWith("/", "A path begins with /.").max(200).optional().meta({
    description: "Only paths that begin with this; * matches anything, e.g. /api/v1/emails/*/cancel",
  }),
  method: z.enum(["GET", "POST", "PATCH", "PUT", "DELETE"]).optional().meta({ description: "Only this method" }),
};

const scope = `Requests of the workspace, and those that came without a key that works. Bodies, queries and headers are never kept. What only looks at a dev server is left out: reads of the dashboard, of the terminal's screen and of this list.`;

export const requests = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/requests",
    access: read,
    summary: "List the latest requests to the API, newest first",
    description: `${scope} A dev server keeps the last ${REQUEST_LIMITS.kept.toLocaleString("en-US")} in memory. A server in production keeps them for as long as its flag --keep requests=30 says, and none without it.`,
    query: z.object({
      ...filters,
      after: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional().meta({
        description: "Only requests with a higher sequence. Continue with the highest that you have seen",
      }),
      limit: z.coerce.number().int().min(1).max(REQUEST_LIMITS.kept).default(50).meta({ description: "Maximum number of requests" }),
    }),
    output: z.object({ data: z.array(RequestRecord) }),
    errors: ["invalid_state"],
    examples: [
      { summary: "Requests that failed", query: { failed: "true" } },
      { summary: "Sends", query: { path: "/api/v1/send" } },
    ],
  }),
  tail: endpoint({
    method: "GET",
    path: "/api/v1/requests/stream",
    access: read,
    summary: "Follow requests to the API as they are answered",
    description: `${scope} Server-sent events: \`id\` is the sequence, \`data\` the request as JSON. A client that lost the connection continues after the id in Last-Event-ID. A server in production is followed where it keeps requests, with --keep requests=30.`,
    query: z.object(filters),
    stream: true,
    output: RequestRecord,
    errors: ["invalid_state"],
    examples: [{ summary: "Requests that fail", query: { failed: "true" } }],
  }),
};
