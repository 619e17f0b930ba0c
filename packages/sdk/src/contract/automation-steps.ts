import { MailboxText } from "./address.ts";
import { AUTOMATION_LIMITS, TRIGGER_STEP } from "./automation-fields.ts";
import { AutomationOccurrence } from "./automation-triggers.ts";
import { mapContactTexts } from "./contact-fields.ts";
import { contactPatchFields, TagName } from "./contacts.ts";
import { durationMs } from "./duration.ts";
import { line } from "./name.ts";
import { DATE_PATTERN, SegmentRuleSchema } from "./segment-rules.ts";
import { TimeOfDay, TimeZone } from "./time-of-day.ts";
import * as z from "./zod.ts";

const Id = z.string().min(1).max(100);

const StepId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]*$/i, "The id of a step has letters, digits, - and _.")
  .max(AUTOMATION_LIMITS.stepId)
  .refine((id) => id !== TRIGGER_STEP, { message: `"${TRIGGER_STEP}" is the start of the automation. Choose another id.` })
  .meta({ description: "The name of the step, for connections" });

const Wait = z
  .string()
  .max(30)
  .regex(/^(?:\d{1,6}(?:s|m|h|d))+$/, "Write a duration such as 30m, 12h or 3d.")
  .refine((text) => durationMs(text) > 0 && durationMs(text) <= AUTOMATION_LIMITS.delayDays * 86_400_000, {
    message: `A wait lasts from 1s to ${AUTOMATION_LIMITS.delayDays}d.`,
  })
  .meta({ description: "A duration such as 30m, 12h or 3d" });

const Weight = z.strictObject({ name: StepId, weight: z.int().min(1).max(1000) });

/** Days of the week, as `wait_until` names them. */
export const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const;
export type Weekday = (typeof WEEKDAYS)[number];

/** The time zone of each contact: its custom field `timeZone`, or that of the workspace's brand where it has none. */
export const CONTACT_TIME_ZONE = "contact";

/** What waits for a moment: a date, or the next of some weekdays, at a time of day. */
const WaitUntil = z
  .strictObject({
    id: StepId,
    type: z.literal("wait_until"),
    date: z
      .string()
      .regex(new RegExp(`^${DATE_PATTERN}$`), "Write a date such as 2026-12-24.")
      .optional()
      .meta({ description: "That date; entries that come later do not wait" }),
    weekdays: z.array(z.enum(WEEKDAYS)).min(1).max(7).optional().meta({ description: "The next of these days" }),
    time: TimeOfDay.optional().meta({ description: "The time of day; without it, any time of that day will do" }),
    timeZone: z
      .union([z.literal(CONTACT_TIME_ZONE), TimeZone])
      .optional()
      .meta({
        description: `"${CONTACT_TIME_ZONE}" for the one in the custom field timeZone of the contact, or a time zone; that of the workspace's brand when absent`,
      }),
  })
  .superRefine(({ id, date, weekdays, time }, ctx) => {
    if (date === undefined && weekdays === undefined && time === undefined)
      ctx.addIssue({
        code: "custom",
        path: ["time"],
        message: `The step "${id}" needs a time, weekdays or a date.`,
        params: { code: "required" },
      });
    if (date !== undefined && weekdays !== undefined)
      ctx.addIssue({
        code: "custom",
        path: ["weekdays"],
        message: `The step "${id}" waits for a date or for weekdays, not for both.`,
        params: { code: "not_allowed" },
      });
  });

const WebhookData = z
  .record(z.string().min(1).max(100), z.union([z.string().max(500), z.number(), z.boolean(), z.null()]))
  .refine((data) => Object.keys(data).length <= AUTOMATION_LIMITS.webhookFields, {
    message: `data has at most ${AUTOMATION_LIMITS.webhookFields} fields.`,
  })
  .meta({ description: "What else to send, the same for each contact" });

const STEPS = [
  z.strictObject({
    id: StepId,
    type: z.literal("send_email"),
    templateId: Id.meta({ description: "A published template; its version is pinned on activation" }),
    from: MailboxText.optional().meta({ description: "The sender; that of the template when absent" }),
  }),
  z.strictObject({ id: StepId, type: z.literal("delay"), for: Wait }),
  WaitUntil,
  z.strictObject({
    id: StepId,
    type: z.literal("wait_for_event"),
    event: AutomationOccurrence.meta({ description: "What to wait for, from then on" }),
    timeout: Wait.meta({ description: "How long at most, such as 3d" }),
  }),
  z.strictObject({ id: StepId, type: z.literal("condition"), rule: SegmentRuleSchema }),
  z.strictObject({ id: StepId, type: z.literal("split"), branches: z.array(Weight).min(2).max(AUTOMATION_LIMITS.branches) }),
  z.strictObject({
    id: StepId,
    type: z.literal("update_contact"),
    set: z.strictObject({ ...mapContactTexts((field) => contactPatchFields[field]), customFields: contactPatchFields.customFields }),
  }),
  z.strictObject({ id: StepId, type: z.literal("add_tag"), tag: TagName }),
  z.strictObject({ id: StepId, type: z.literal("remove_tag"), tag: TagName }),
  z.strictObject({ id: StepId, type: z.literal("add_to_list"), listId: Id }),
  z.strictObject({ id: StepId, type: z.literal("remove_from_list"), listId: Id }),
  z.strictObject({
    id: StepId,
    type: z.literal("webhook"),
    webhookId: Id.meta({ description: "A webhook of the workspace, which gets the event automation.webhook" }),
    data: WebhookData.optional(),
  }),
  z.strictObject({ id: StepId, type: z.literal("goal") }),
  z.strictObject({ id: StepId, type: z.literal("exit"), reason: line(200).optional() }),
] as const;

/** The types of steps. Written out: reading them from the schemas would build those on each start. */
export const STEP_TYPES = [
  "send_email",
  "delay",
  "wait_until",
  "wait_for_event",
  "condition",
  "split",
  "update_contact",
  "add_tag",
  "remove_tag",
  "add_to_list",
  "remove_from_list",
  "webhook",
  "goal",
  "exit",
] as const satisfies readonly z.infer<(typeof STEPS)[number]>["type"][];

/**
 * One step. `condition` leads to the branches `yes` and `no`, `wait_for_event` to `event` and `timeout`, `split` to those it names;
 * every other step has one way on.
 */
export const AutomationStep = z
  .discriminatedUnion("type", STEPS, { error: ({ input }) => describeUnknownStep(input) })
  .meta({ id: "AutomationStep" });
export type AutomationStep = z.infer<typeof AutomationStep>;
export type StepType = AutomationStep["type"];

/** The branches that lead out of a step; null for a step with one unnamed way on. */
export function listBranches(step: AutomationStep): readonly string[] | null {
  if (step.type === "condition") return ["yes", "no"];
  if (step.type === "wait_for_event") return ["event", "timeout"];
  return step.type === "split" ? step.branches.map(({ name }) => name) : null;
}

/** True for steps at which every entry waits for a second at least, or for an event. `wait_until` lets pass what is already there. */
export function alwaysWaits({ type }: AutomationStep): boolean {
  return type === "delay" || type === "wait_for_event";
}

function describeUnknownStep(input: unknown): string {
  const id = typeof input === "object" && input !== null && "id" in input ? ` of the step ${JSON.stringify(input.id)?.slice(0, 60)}` : "";
  return `The type${id} is one of ${STEP_TYPES.join(", ")}.`;
}
