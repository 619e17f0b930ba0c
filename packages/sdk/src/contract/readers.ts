import { endpoint } from "./endpoint.ts";
import { Instant, LocalDate } from "./page.ts";
import * as z from "./zod.ts";

/** Readers of the log of events: what each keeps, null for one that acts, and if that can be rebuilt from the log. */
export const READERS = {
  metrics: { keeps: "the numbers of all mail", rebuilt: true },
  engagement: { keeps: "what contacts did, and with it the segments that ask for it", rebuilt: true },
  campaigns: { keeps: "the statistics of campaigns", rebuilt: false },
  automations: { keeps: null, rebuilt: false },
  soft_bounces: { keeps: null, rebuilt: false },
} as const satisfies Record<string, { readonly keeps: string | null; readonly rebuilt: boolean }>;
export type ReaderName = keyof typeof READERS;

const Name = z.enum(Object.keys(READERS) as [ReaderName, ...ReaderName[]]);

const EventReader = z
  .object({
    name: Name,
    keeps: z.string().nullable().meta({ description: "Null for a reader that acts, such as that of automations" }),
    unread: z.int().meta({ description: "Events that it still has to read, in all workspaces" }),
    failing: z
      .array(z.object({ workspaceId: z.string(), since: Instant, error: z.string() }))
      .meta({ description: "Workspaces in which it cannot go on; it is tried again once a minute" }),
  })
  .meta({ id: "EventReader" });

const ReaderRebuild = z
  .object({
    name: Name,
    workspaces: z.int().meta({ description: "Workspaces in which it is rebuilt" }),
    from: Instant.nullable().meta({
      description: "Time of the first event that is read again; results of earlier ones stay as they are. Null for the whole log",
    }),
  })
  .meta({ id: "ReaderRebuild" });

export const readers = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/readers",
    access: "operator",
    summary: "List the readers of events: how far they are, and which cannot go on",
    output: z.object({ data: z.array(EventReader) }),
    examples: [{ summary: "Now" }],
  }),
  rebuild: endpoint({
    method: "POST",
    path: "/api/v1/readers/:name/rebuild",
    access: "operator",
    mailsTo: "nobody",
    summary: "Rebuild what a reader keeps from the log of events",
    description:
      "For `metrics` and `engagement`. Runs in the background and can be repeated. Starts no automations and sends no mail; segments are compared with their rules again. Days whose events the server may have deleted (`--keep`) stay as they are. For mail that was deleted, only the numbers of all mail are rebuilt.",
    body: z.strictObject({
      from: LocalDate.optional().meta({
        description: "The first day, in UTC; by default the first one whose events are all in the log",
      }),
    }),
    output: ReaderRebuild,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "The numbers of mail", params: { name: "metrics" }, body: {} }],
  }),
};
