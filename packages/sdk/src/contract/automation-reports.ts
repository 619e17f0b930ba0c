import { AutomationGraph } from "./automation-definition.ts";
import { AUTOMATION_LIMITS, ENTRY_STATUSES } from "./automation-fields.ts";
import { STEP_TYPES } from "./automation-steps.ts";
import { ContactRef } from "./contact-ref.ts";
import { trackedEventFields } from "./events.ts";
import { Instant } from "./page.ts";
import * as z from "./zod.ts";

/** One definition of an automation. Entries keep the version that they began with. */
export const AutomationVersion = z
  .object({
    version: z.int(),
    /** Contacts that enter take this one. */
    current: z.boolean(),
    steps: z.int(),
    /** The pinned version of each template, by its id; null until the automation was activated with this definition. */
    templates: z.record(z.string(), z.int()).nullable(),
    createdAt: Instant,
  })
  .meta({ id: "AutomationVersion" });
export type AutomationVersion = z.infer<typeof AutomationVersion>;

/** Number of entries that reached a step, over all versions with a step of this id. */
export const StepStats = z
  .object({
    stepId: z.string(),
    /** Null for a step that the newest version does not have. */
    type: z.enum(STEP_TYPES).nullable(),
    /** Entries that came to the step: completed, skipped and waiting. One that comes twice counts twice. */
    entered: z.int(),
    /** Entries that wait in the step now. */
    waiting: z.int(),
    /** Entries that are through with the step: they went on, or left the automation while they waited in it. */
    completed: z.int(),
    skipped: z.int(),
    /** Entries by the branch they took, without those that left the automation in the step; null for a step without branches. */
    branches: z.record(z.string(), z.int()).nullable(),
  })
  .meta({ id: "AutomationStepStats" });
export type StepStats = z.infer<typeof StepStats>;

/** The numbers of an automation and of each of its steps. */
export const AutomationStats = z
  .object({
    automationId: z.string(),
    entered: z.int(),
    /** Entries that have not ended. */
    inside: z.int(),
    completed: z.int(),
    exited: z.int(),
    failed: z.int(),
    goalConversions: z.int(),
    steps: z.array(StepStats),
  })
  .meta({ id: "AutomationStats" });
export type AutomationStats = z.infer<typeof AutomationStats>;

const { contact: _contact, ...eventFields } = trackedEventFields;

export const NewDryRun = z.strictObject({
  contact: ContactRef,
  version: z.int().min(1).optional().meta({ description: "A version of the definition; the newest when absent" }),
  definition: AutomationGraph.optional().meta({
    description: "Steps and connections that are not saved, in place of a version: { steps, connections }",
  }),
  at: Instant.optional().meta({ description: "When the contact enters; now when absent" }),
  event: z.strictObject(eventFields).optional().meta({
    description: "The event of yours by which the contact enters, for templates that use it: { name, value, currency, properties }",
  }),
  assume: z
    .record(z.string().max(AUTOMATION_LIMITS.stepId), z.string().max(AUTOMATION_LIMITS.stepId))
    .refine((assume) => Object.keys(assume).length <= AUTOMATION_LIMITS.steps, {
      message: `At most ${AUTOMATION_LIMITS.steps} steps.`,
      params: { code: "too_big" },
    })
    .optional()
    .meta({ description: "The branch taken at a step, by the id of the step, in place of the one that follows from the contact" }),
});

/** Simulated step. */
export const DryRunStep = z
  .object({
    stepId: z.string(),
    type: z.enum(STEP_TYPES),
    at: Instant,
    outcome: z.enum(["done", "skipped"]),
    reason: z.string().nullable(),
    branch: z.string().nullable(),
    /** The branch was given in `assume`, or it depends on something that only happens later. */
    assumed: z.boolean(),
    /** Time the entry would continue; null for a step that does not wait. */
    until: Instant.nullable(),
    /** The mail it would send, rendered for the contact as it would be then. */
    email: z.object({ from: z.string(), subject: z.string() }).nullable(),
  })
  .meta({ id: "AutomationDryRunStep" });
export type DryRunStep = z.infer<typeof DryRunStep>;

/** The way that a contact would take through an automation. Nothing was written or sent. */
export const DryRun = z
  .object({
    contactId: z.string(),
    /** The version that was tried; null for a definition that is not saved. */
    version: z.int().nullable(),
    /** True if the contact could enter; otherwise `entryReason` says why not. The path is included either way. */
    mayEnter: z.boolean(),
    entryReason: z.string().nullable(),
    status: z.enum(ENTRY_STATUSES).exclude(["ACTIVE"]),
    /** Reason it would end before the end of its path. */
    reason: z.string().nullable(),
    enteredAt: Instant,
    endedAt: Instant,
    path: z.array(DryRunStep),
  })
  .meta({ id: "AutomationDryRun" });
export type DryRun = z.infer<typeof DryRun>;
