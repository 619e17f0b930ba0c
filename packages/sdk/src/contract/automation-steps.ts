import { MailboxText } from "./address.ts";
import { AUTOMATION_LIMITS, TRIGGER_STEP } from "./automation-fields.ts";
import { AutomationOccurrence } from "./automation-triggers.ts";
import { describeRule, describeTrigger } from "./automation-words.ts";
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
  .regex(/^(?:\d{1,6}(?:s|m|h|d))+$/, { error: "Write a duration such as 30m, 12h or 3d.", abort: true })
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

const WebhookData = z
  .record(z.string().min(1).max(100), z.union([z.string().max(500), z.number(), z.boolean(), z.null()]))
  .refine((data) => Object.keys(data).length <= AUTOMATION_LIMITS.webhookFields, {
    message: `data has at most ${AUTOMATION_LIMITS.webhookFields} fields.`,
  })
  .meta({ description: "What else to send, the same for each contact" });

/** A step of a kind, as its functions see it. */
type Values<F extends z.ZodRawShape> = z.infer<z.ZodObject<F>> & { readonly id: string };

interface StepKind<F extends z.ZodRawShape> {
  /** Fields besides `id` and `type`. */
  readonly fields: F;
  /** Its name in a list of steps to add. */
  readonly title: string;
  /** The fields of a new step; ids in them are to be completed. */
  readonly sample: z.input<z.ZodObject<F>>;
  /** Describes a step in a few words. */
  describe(step: Values<F>): string;
  /** Reports what the fields cannot say one by one. */
  check?(step: Values<F>, ctx: z.RefinementCtx): void;
}

/** Lets the functions of a kind know its fields. */
function kind<F extends z.ZodRawShape>(given: StepKind<F>): StepKind<F> {
  return given;
}

/** All kinds of steps, as definitions have them. The code that runs them is in `automations/steps`, under the same names. */
const STEP_KINDS = {
  send_email: kind({
    fields: {
      templateId: Id.meta({ description: "A published template; its version is pinned on activation" }),
      from: MailboxText.optional().meta({ description: "The sender; that of the template when absent" }),
    },
    title: "Send a mail",
    sample: { templateId: "tpl_" },
    describe: ({ templateId }) => `sends ${templateId}`,
  }),
  delay: kind({ fields: { for: Wait }, title: "Wait for a time", sample: { for: "3d" }, describe: (step) => `waits ${step.for}` }),
  wait_until: kind({
    fields: {
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
    },
    title: "Wait until a day or an hour",
    sample: { time: "09:00", weekdays: ["tuesday"] },
    describe: ({ date, weekdays, time, timeZone }) => {
      const moment = [date, weekdays?.map((day) => day.slice(0, 3)).join(" "), time, timeZone];
      return `waits until ${moment.filter((part) => part).join(" ")}`;
    },
    check: ({ id, date, weekdays, time }, ctx) => {
      const refuse = (field: string, code: string, message: string) =>
        ctx.addIssue({ code: "custom", path: [field], message, params: { code } });
      if (date === undefined && weekdays === undefined && time === undefined)
        refuse("time", "required", `The step "${id}" needs a time, weekdays or a date.`);
      if (date !== undefined && weekdays !== undefined)
        refuse("weekdays", "not_allowed", `The step "${id}" waits for a date or for weekdays, not for both.`);
    },
  }),
  wait_for_event: kind({
    fields: {
      event: AutomationOccurrence.meta({ description: "What to wait for, from then on" }),
      timeout: Wait.meta({ description: "How long at most, such as 3d" }),
    },
    title: "Wait for something to happen",
    sample: { event: { type: "event", name: "email.opened" }, timeout: "3d" },
    describe: ({ event, timeout }) => `waits ${timeout} for ${describeTrigger(event)}`,
  }),
  condition: kind({
    fields: { rule: SegmentRuleSchema },
    title: "Ask a condition",
    sample: { rule: { field: "tags", operator: "contains", value: "customer" } },
    describe: ({ rule }) => `asks ${describeRule(rule)}`,
  }),
  split: kind({
    fields: { branches: z.array(Weight).min(2).max(AUTOMATION_LIMITS.branches) },
    title: "Split by chance",
    sample: {
      branches: [
        { name: "a", weight: 1 },
        { name: "b", weight: 1 },
      ],
    },
    describe: ({ branches }) => `splits ${branches.map(({ name, weight }) => `${name} ${weight}`).join(" : ")}`,
  }),
  update_contact: kind({
    fields: {
      set: z.strictObject({ ...mapContactTexts((field) => contactPatchFields[field]), customFields: contactPatchFields.customFields }),
    },
    title: "Set fields of the contact",
    sample: { set: { customFields: { stage: "welcomed" } } },
    describe: ({ set: { customFields = {}, ...fields } }) =>
      `sets ${[...Object.keys(fields), ...Object.keys(customFields).map((name) => `customFields.${name}`)].join(", ")}`,
  }),
  add_tag: kind({ fields: { tag: TagName }, title: "Add a tag", sample: { tag: "welcomed" }, describe: ({ tag }) => `adds tag ${tag}` }),
  remove_tag: kind({
    fields: { tag: TagName },
    title: "Remove a tag",
    sample: { tag: "welcomed" },
    describe: ({ tag }) => `removes tag ${tag}`,
  }),
  add_to_list: kind({
    fields: { listId: Id },
    title: "Add to a list",
    sample: { listId: "list_" },
    describe: ({ listId }) => `adds to list ${listId}`,
  }),
  remove_from_list: kind({
    fields: { listId: Id },
    title: "Remove from a list",
    sample: { listId: "list_" },
    describe: ({ listId }) => `removes from list ${listId}`,
  }),
  webhook: kind({
    fields: {
      webhookId: Id.meta({ description: "A webhook of the workspace, which gets the event automation.webhook" }),
      data: WebhookData.optional(),
    },
    title: "Call a webhook",
    sample: { webhookId: "whk_" },
    describe: ({ webhookId }) => `calls ${webhookId}`,
  }),
  goal: kind({ fields: {}, title: "Count the goal", sample: {}, describe: () => "reaches the goal" }),
  exit: kind({
    fields: { reason: line(200).optional() },
    title: "End here",
    sample: {},
    describe: ({ reason }) => (reason === undefined ? "exits" : `exits: ${reason}`),
  }),
};

type StepKinds = typeof STEP_KINDS;
export type StepType = keyof StepKinds;

/** The types of steps. */
export const STEP_TYPES = Object.keys(STEP_KINDS) as StepType[];

/** The title of a step type in a list of steps to add, and the fields of a new step. Ids in the fields are to be completed. */
export function describeNewStep(type: StepType): { readonly title: string; readonly fields: object } {
  const { title, sample } = kindOf(type);
  return { title, fields: sample };
}

type SchemaOf<T extends string, F extends z.ZodRawShape> = z.ZodObject<{ id: typeof StepId; type: z.ZodLiteral<T> } & F, z.core.$strict>;
type StepSchema = { [T in StepType]: StepKinds[T] extends StepKind<infer F> ? SchemaOf<T, F> : never }[StepType];

/**
 * One step. `condition` leads to the branches `yes` and `no`, `wait_for_event` to `event` and `timeout`, `split` to those it names;
 * every other step has one way on.
 */
export const AutomationStep = z
  .discriminatedUnion("type", STEP_TYPES.map(buildSchema) as readonly z.ZodType[] as readonly [StepSchema, ...StepSchema[]], {
    error: ({ input }) => describeUnknownStep(input),
  })
  .meta({ id: "AutomationStep" });
export type AutomationStep = z.infer<typeof AutomationStep>;

/** Describes a step in a few words. */
export function describeStep(step: AutomationStep): string {
  return kindOf(step.type).describe(step);
}

/** A kind that is given steps of its own type only, which TypeScript cannot follow through the table. */
interface AnyKind {
  readonly fields: z.ZodRawShape;
  readonly title: string;
  readonly sample: object;
  describe(step: AutomationStep): string;
  check?(step: unknown, ctx: z.RefinementCtx): void;
}

function kindOf(type: StepType): AnyKind {
  return STEP_KINDS[type] as AnyKind;
}

function buildSchema(type: StepType): z.ZodType {
  const { fields, check } = kindOf(type);
  const schema = z.strictObject({ id: StepId, type: z.literal(type), ...fields });
  return check ? schema.superRefine(check) : schema;
}

function describeUnknownStep(input: unknown): string {
  const id = typeof input === "object" && input !== null && "id" in input ? ` of the step ${JSON.stringify(input.id)?.slice(0, 60)}` : "";
  return `The type${id} is one of ${STEP_TYPES.join(", ")}.`;
}
