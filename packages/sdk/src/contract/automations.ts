import { AutomationConnection } from "./automation-connection.ts";
import { definitionFields } from "./automation-definition.ts";
import { AUTOMATION_DEFAULTS, AUTOMATION_LIMITS, AUTOMATION_STATUSES, ENTRY_STATUSES } from "./automation-fields.ts";
import { listDefinitionFaults } from "./automation-graph.ts";
import { AutomationStats, AutomationVersion, DryRun, NewDryRun } from "./automation-reports.ts";
import { AutomationStep } from "./automation-steps.ts";
import { AutomationOccurrence, AutomationTrigger, OCCURRENCE_TYPES, TRIGGER_TYPES } from "./automation-triggers.ts";
import { ContactRef } from "./contact-ref.ts";
import { Currency } from "./currency.ts";
import { endpoint } from "./endpoint.ts";
import { line } from "./name.ts";
import { Instant, pageQuery, pageSchema } from "./page.ts";
import { revisionOf } from "./revision.ts";
import * as z from "./zod.ts";

/** An automation in a list, with the numbers of its entries. */
export const Automation = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    triggerType: z.enum(TRIGGER_TYPES),
    status: z.enum(AUTOMATION_STATUSES),
    /** Entries so far; a contact that enters again counts again. */
    totalEntered: z.int(),
    /** Entries that came to the end of their path. */
    totalCompleted: z.int(),
    /** Sum of the values of tracked events of contacts while they were inside. */
    revenueGenerated: z.number(),
    goalType: z.enum(OCCURRENCE_TYPES).nullable(),
    /** Entries that reached the goal, each counted once. */
    goalConversions: z.int(),
    /** goalConversions of totalEntered, 0 to 1. */
    goalConversionRate: z.number(),
    /** Sum of the values of the events that reached the goal. */
    goalRevenue: z.number(),
    allowReEntry: z.boolean(),
    /** Hours from one entry of a contact to its next one, at least; null if a contact enters once. */
    reEntryDelayHours: z.int().nullable(),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .meta({ id: "Automation" });
export type Automation = z.infer<typeof Automation>;

/** An automation with its trigger, goal and the newest version of its definition. */
export const AutomationDetail = Automation.extend({
  trigger: AutomationTrigger,
  goal: AutomationOccurrence.nullable(),
  /** Currency of its revenue; values in other currencies are not counted. */
  currency: z.string(),
  /** Counts the definitions; an entry keeps the one it began with. */
  version: z.int(),
  /** The version whose steps and connections are shown. */
  shownVersion: z.int(),
  /** Counts the changes of its fields. */
  revision: z.int(),
  /** Null unless it is archived. */
  archivedAt: Instant.nullable(),
  steps: z.array(AutomationStep),
  connections: z.array(AutomationConnection),
}).meta({ id: "AutomationDetail" });
export type AutomationDetail = z.infer<typeof AutomationDetail>;

/** A step that an entry has taken. */
export const EntryStep = z
  .object({
    stepId: z.string(),
    at: Instant,
    /** `skipped` if it could not be done: see `reason`. The entry goes on all the same. */
    outcome: z.enum(["done", "skipped"]),
    reason: z.string().nullable(),
    /** The way it took out of a step with branches. */
    branch: z.string().nullable(),
    /** The email it sent. */
    emailId: z.string().nullable(),
  })
  .meta({ id: "EntryStep" });
export type EntryStep = z.infer<typeof EntryStep>;

/** A contact in an automation, with the path it took. */
export const AutomationEntry = z
  .object({
    id: z.string(),
    contactId: z.string(),
    /** Version of the definition. */
    version: z.int(),
    status: z.enum(ENTRY_STATUSES),
    /** Reason it ended before the end of its path. */
    reason: z.string().nullable(),
    /** The step that comes next; null once it is over. */
    stepId: z.string().nullable(),
    /** Due time of that step. While the automation is paused, the entry waits beyond it. */
    dueAt: Instant.nullable(),
    enteredAt: Instant,
    endedAt: Instant.nullable(),
    goalReachedAt: Instant.nullable(),
    /** Sum of the values of the tracked events of the contact while it was inside. */
    revenue: z.number(),
    /** The value of the event that reached the goal. */
    goalRevenue: z.number(),
    path: z.array(EntryStep),
  })
  .meta({ id: "AutomationEntry" });
export type AutomationEntry = z.infer<typeof AutomationEntry>;

const fields = {
  name: line(AUTOMATION_LIMITS.name).meta({ description: "Name" }),
  description: z.string().max(AUTOMATION_LIMITS.description).nullable().optional().meta({ description: "What it is for" }),
  trigger: AutomationTrigger.meta({ description: 'What makes a contact enter: { "type": "contact.created" }' }),
  ...definitionFields,
  goal: AutomationOccurrence.nullable().optional().meta({ description: "What counts as success, while a contact is inside" }),
  currency: Currency.optional().meta({ description: `Currency of its revenue; ${AUTOMATION_DEFAULTS.currency} when absent` }),
  allowReEntry: z.boolean().optional().meta({ description: "Let a contact enter again once it is out; false when absent" }),
  reEntryDelayHours: z
    .int()
    .min(1)
    .max(AUTOMATION_LIMITS.reEntryDelayHours)
    .optional()
    .meta({
      description: `Hours from one entry of a contact to its next one, at least; ${AUTOMATION_DEFAULTS.reEntryDelayHours} when absent`,
    }),
};

export const NewAutomation = z.strictObject(fields).superRefine((input, ctx) => {
  for (const { path, code, message } of listDefinitionFaults(input)) ctx.addIssue({ code: "custom", path, message, params: { code } });
});
export type NewAutomation = z.input<typeof NewAutomation>;

export const AutomationPatch = z
  .strictObject({
    ...fields,
    name: fields.name.optional(),
    trigger: fields.trigger.optional(),
    steps: fields.steps.optional(),
    connections: fields.connections.optional(),
    revision: revisionOf("automation"),
  })
  .superRefine(({ steps, connections }, ctx) => {
    if ((steps === undefined) !== (connections === undefined)) {
      const missing = steps === undefined ? "steps" : "connections";
      ctx.addIssue({
        code: "custom",
        path: [missing],
        message: `steps and connections are one definition: send ${missing}, too.`,
        params: { code: "required" },
      });
    } else if (steps && connections)
      for (const { path, code, message } of listDefinitionFaults({ steps, connections }))
        ctx.addIssue({ code: "custom", path, message, params: { code } });
  });
export type AutomationPatch = z.input<typeof AutomationPatch>;

const id = { id: "aut_01jc3v2m9k8q4w6x0y5z7a1b2c" };
const templateId = "tpl_01jc3v2m9k8q4w6x0y5z7a1b2c";
const welcome = {
  steps: [
    { id: "welcome", type: "send_email" as const, templateId, from: "news@acme.example" },
    { id: "wait", type: "delay" as const, for: "3d" },
    { id: "tips", type: "send_email" as const, templateId, from: "news@acme.example" },
  ],
  connections: [
    { from: "trigger", to: "welcome" },
    { from: "welcome", to: "wait" },
    { from: "wait", to: "tips" },
  ],
};

export const automations = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/automations",
    access: { permission: "automations:read" },
    summary: "List automations, newest first",
    description: "Archived automations are in their own list: archived=true.",
    query: z.object({
      ...pageQuery,
      archived: z
        .stringbool()
        .optional()
        .meta({ description: "Only archived automations (true), or only the others (false, the default)" }),
      status: z.enum(AUTOMATION_STATUSES).optional().meta({ description: "Only automations in this state" }),
      search: z.string().min(1).max(200).optional().meta({ description: "Only automations whose name contains this" }),
    }),
    output: pageSchema(Automation),
    examples: [{ summary: "Those that run", query: { status: "ACTIVE" } }],
  }),
  create: endpoint({
    method: "POST",
    path: "/api/v1/automations",
    access: { permission: "automations:write" },
    mailsTo: "nobody",
    summary: "Create an automation as a draft",
    description: "Steps and connections are a graph that begins at trigger. Nothing happens before the automation is activated.",
    body: NewAutomation,
    status: 201,
    output: AutomationDetail,
    examples: [{ summary: "A welcome series", body: { name: "Welcome", trigger: { type: "contact.created" }, ...welcome } }],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/automations/:id",
    access: { permission: "automations:read" },
    summary: "Get one automation with its definition and numbers",
    query: z.object({
      version: z.coerce
        .number()
        .int()
        .min(1)
        .optional()
        .meta({ description: "Show this version of the definition; the newest when absent" }),
    }),
    output: AutomationDetail,
    errors: ["not_found"],
    examples: [{ summary: "Get", params: id }],
  }),
  update: endpoint({
    method: "PATCH",
    path: "/api/v1/automations/:id",
    access: { permission: "automations:write" },
    mailsTo: "unknown",
    summary: "Update an automation; fields that are not sent stay",
    description:
      "steps and connections are sent together and make a new version. Contacts that are inside stay in the version they entered; an active automation takes new ones into the new version at once.",
    body: AutomationPatch,
    output: AutomationDetail,
    errors: ["not_found", "conflict", "invalid_state", "sender_not_verified"],
    examples: [{ summary: "Another name", params: id, body: { name: "Welcome series" } }],
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/api/v1/automations/:id",
    access: { permission: "automations:write" },
    mailsTo: "nobody",
    summary: "Delete an automation that is not active, with its entries",
    description: "Entries that were paused end here, and the numbers of the automation are gone with it.",
    output: AutomationDetail,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "Delete", params: id }],
  }),
  activate: endpoint({
    method: "POST",
    path: "/api/v1/automations/:id/activate",
    access: { permission: "automations:write" },
    mailsTo: "unknown",
    summary: "Activate an automation, or continue a paused one",
    description:
      "Templates must be published and senders verified; the versions of the templates are pinned. Contacts enter from now on. Of a paused automation, what became due meanwhile is done at once, and later delays count from then.",
    body: z.strictObject({ revision: revisionOf("automation") }),
    output: AutomationDetail,
    errors: ["not_found", "conflict", "invalid_state", "sender_not_verified"],
    examples: [{ summary: "Activate", params: id, body: {} }],
  }),
  pause: endpoint({
    method: "POST",
    path: "/api/v1/automations/:id/pause",
    access: { permission: "automations:write" },
    mailsTo: "nobody",
    summary: "Pause an automation: no contact enters, and entries stay where they are",
    output: AutomationDetail,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "Pause", params: id }],
  }),
  archive: endpoint({
    method: "POST",
    path: "/api/v1/automations/:id/archive",
    access: { permission: "automations:write" },
    mailsTo: "nobody",
    summary: "Archive an automation that is not active: lists leave it out, and its numbers stay",
    description: "It cannot be changed or activated until it is unarchived. Entries that were paused stay where they are.",
    output: AutomationDetail,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "Archive", params: id }],
  }),
  unarchive: endpoint({
    method: "POST",
    path: "/api/v1/automations/:id/unarchive",
    access: { permission: "automations:write" },
    mailsTo: "nobody",
    summary: "Bring an archived automation back, in the state it had",
    output: AutomationDetail,
    errors: ["not_found"],
    examples: [{ summary: "Unarchive", params: id }],
  }),
  versions: endpoint({
    method: "GET",
    path: "/api/v1/automations/:id/versions",
    access: { permission: "automations:read" },
    summary: "List the definitions an automation has had, newest first",
    description: "Get one with its steps: GET /api/v1/automations/:id?version=2.",
    query: z.object(pageQuery),
    output: pageSchema(AutomationVersion),
    errors: ["not_found"],
    examples: [{ summary: "Its history", params: id }],
  }),
  stats: endpoint({
    method: "GET",
    path: "/api/v1/automations/:id/stats",
    access: { permission: "automations:read" },
    summary: "Get how many entries came to each step, wait there, and went on",
    output: AutomationStats,
    errors: ["not_found"],
    examples: [{ summary: "Step by step", params: id }],
  }),
  test: endpoint({
    method: "POST",
    path: "/api/v1/automations/:id/test",
    access: { permission: "automations:read" },
    summary: "Show which way a contact would take, and what each step would do, without doing it",
    description:
      "Nothing is written and no email is sent. Conditions are evaluated for the contact as the steps before would have changed it, at the time they would be reached. With a `definition`, steps can be tried before they are saved.",
    body: NewDryRun,
    output: DryRun,
    errors: ["not_found"],
    examples: [{ summary: "For one contact", params: id, body: { contact: "ada@example.com" } }],
  }),
  entries: endpoint({
    method: "GET",
    path: "/api/v1/automations/:id/entries",
    access: { permission: "automations:read" },
    summary: "List who entered an automation, with path, times and reasons, newest first",
    query: z.object({
      ...pageQuery,
      status: z.enum(ENTRY_STATUSES).optional().meta({ description: "Only entries in this state" }),
      contact: ContactRef.optional().meta({ description: "Only entries of this contact (its id, address or externalId)" }),
    }),
    output: pageSchema(AutomationEntry),
    errors: ["not_found"],
    examples: [{ summary: "Who is inside", params: id, query: { status: "ACTIVE" } }],
  }),
};
