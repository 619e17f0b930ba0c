import { Contact } from "./contacts.ts";
import { endpoint } from "./endpoint.ts";
import { ListDescription, ListName } from "./lists.ts";
import { Instant, pageQuery, pageSchema } from "./page.ts";
import { revisionOf } from "./revision.ts";
import type { SegmentRule } from "./rule-fields.ts";
import { SegmentRuleSchema } from "./segment-rules.ts";
import * as z from "./zod.ts";

/** BUILDING while contacts are compared with new rules. Reads evaluate the rules meanwhile, so they are right in both states. */
export const SEGMENT_STATES = ["BUILDING", "READY"] as const;
export type SegmentState = (typeof SEGMENT_STATES)[number];

/** Segments per workspace. */
export const MAX_SEGMENTS = 500;

export const Segment = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    rules: SegmentRuleSchema,
    state: z.enum(SEGMENT_STATES),
    /** Members; while BUILDING, those found so far. */
    memberCount: z.int(),
    /** Increases with every change. Send it with a change, and the change is refused if the segment was changed in the meantime. */
    revision: z.int(),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .meta({ id: "Segment" });
export type Segment = z.infer<typeof Segment>;

export const SegmentPreview = z
  .object({
    /** Contacts that match the rules now, counted up to 10,000. */
    count: z.int(),
    /** Present when more than 10,000 match. */
    countIsMinimum: z.literal(true).optional(),
    /** The newest of them. */
    contacts: z.array(Contact),
  })
  .meta({ id: "SegmentPreview" });
export type SegmentPreview = z.infer<typeof SegmentPreview>;

const rules = SegmentRuleSchema;
const vips: SegmentRule = {
  all: [
    { field: "tags", operator: "contains", value: "vip" },
    { field: "lastOpenedAt", operator: "withinLast", value: "30d" },
  ],
};
const id = { id: "seg_01jc3v2m9k8q4w6x0y5z7a1b2c" };

export const segments = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/segments",
    access: { permission: "segments:read" },
    summary: "List segments, newest first",
    query: z.object({
      ...pageQuery,
      search: z.string().min(1).max(200).optional().meta({ description: "Only segments whose name contains this" }),
    }),
    output: pageSchema(Segment),
    examples: [{ summary: "All" }],
  }),
  create: endpoint({
    method: "POST",
    path: "/api/v1/segments",
    access: { permission: "segments:write" },
    mailsTo: "nobody",
    summary: "Create a segment: a dynamic group of contacts, defined by rules",
    description: "Contacts enter and leave automatically, with the events segment.entered and segment.left.",
    body: z.strictObject({ name: ListName, description: ListDescription.optional(), rules }),
    status: 201,
    output: Segment,
    examples: [{ summary: "Active VIPs", body: { name: "Active VIPs", rules: vips } }],
  }),
  preview: endpoint({
    method: "POST",
    path: "/api/v1/segments/preview",
    access: { permission: "contacts:read" },
    summary: "Count the contacts that match rules, and show the newest of them",
    description: "Nothing is stored. More than 10,000 contacts are not counted: `countIsMinimum` says so.",
    body: z.strictObject({ rules, limit: z.int().min(0).max(100).default(20).meta({ description: "Contacts to show, 0 to 100" }) }),
    output: SegmentPreview,
    bucket: "read",
    examples: [{ summary: "How many VIPs?", body: { rules: { field: "tags", operator: "contains", value: "vip" } } }],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/segments/:id",
    access: { permission: "segments:read" },
    summary: "Get one segment",
    output: Segment,
    errors: ["not_found"],
    examples: [{ summary: "Get", params: id }],
  }),
  update: endpoint({
    method: "PATCH",
    path: "/api/v1/segments/:id",
    access: { permission: "segments:write" },
    mailsTo: "nobody",
    summary: "Update a segment; fields that are not sent stay",
    body: z.strictObject({
      name: ListName.optional(),
      description: ListDescription.optional(),
      rules: rules.optional(),
      revision: revisionOf("segment"),
    }),
    output: Segment,
    errors: ["not_found", "conflict"],
    examples: [{ summary: "Another name", params: id, body: { name: "VIPs" } }],
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/api/v1/segments/:id",
    access: { permission: "segments:write" },
    mailsTo: "nobody",
    summary: "Delete a segment; its contacts stay",
    output: Segment,
    errors: ["not_found"],
    examples: [{ summary: "Delete", params: id }],
  }),
  contacts: endpoint({
    method: "GET",
    path: "/api/v1/segments/:id/contacts",
    access: { permission: "contacts:read" },
    summary: "List the contacts of a segment, newest first",
    query: z.object(pageQuery),
    output: pageSchema(Contact),
    errors: ["not_found"],
    examples: [{ summary: "The first page", params: id }],
  }),
};
