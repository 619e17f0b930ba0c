import type { AutomationDetail, AutomationStep, EventFilter, SegmentRule } from "@mailsvc/sdk/contract";
import * as z from "zod";
import { ApiError, invalid } from "../../lib/api-error.ts";
import { drop } from "../operation.ts";
import { idOf } from "./ids.ts";

/** A step as Resend has it, with the fields of its config that are here. Other fields of a config are refused. */
const Step = z.discriminatedUnion("type", [
  z.object({ key: z.string(), type: z.literal("trigger"), config: z.object({ event_name: z.string() }) }),
  z.object({ key: z.string(), type: z.literal("delay"), config: z.object({ duration: z.string() }) }),
  z.object({
    key: z.string(),
    type: z.literal("send_email"),
    config: z.looseObject({ template: z.looseObject({ id: idOf("templates") }), from: z.string().nullish() }),
  }),
  z.object({
    key: z.string(),
    type: z.literal("wait_for_event"),
    config: z.looseObject({ event_name: z.string(), timeout: z.string().nullish() }),
  }),
  z.object({ key: z.string(), type: z.literal("condition"), config: z.unknown() }),
  z.object({
    key: z.string(),
    type: z.literal("contact_update"),
    config: z.looseObject({
      first_name: z.unknown().optional(),
      last_name: z.unknown().optional(),
      properties: z.record(z.string(), z.unknown()).nullish(),
    }),
  }),
  z.object({ key: z.string(), type: z.literal("contact_delete"), config: z.unknown() }),
  z.object({ key: z.string(), type: z.literal("add_to_segment"), config: z.object({ segment_id: idOf("segments") }) }),
]);
type Step = z.output<typeof Step>;

const Connection = z.object({
  from: z.string(),
  to: z.string(),
  type: z.enum(["default", "condition_met", "condition_not_met", "timeout", "event_received"]).default("default"),
});

/** The steps and connections of an automation, as Resend has them. */
export const graphFields = { steps: z.array(Step).min(1).max(100), connections: z.array(Connection).max(300) };
type Graph = { readonly steps: readonly Step[]; readonly connections: readonly z.output<typeof Connection>[] };

const BRANCHES = { condition_met: "yes", condition_not_met: "no", timeout: "timeout", event_received: "event" } as const;
const CONNECTION_TYPES: Readonly<Record<string, string>> = Object.fromEntries(Object.entries(BRANCHES).map(([type, own]) => [own, type]));

const START = "trigger";
const UNITS = { second: "s", minute: "m", hour: "h", day: "d" } as const;
const OPERATORS = {
  eq: "equals",
  neq: "notEquals",
  gt: "gt",
  gte: "gte",
  lt: "lt",
  lte: "lte",
  contains: "contains",
  starts_with: "startsWith",
  ends_with: "endsWith",
} as const;
const CONTACT_FIELDS: Readonly<Record<string, string>> = { email: "email", first_name: "firstName", last_name: "lastName" };

/** The trigger, steps and connections of an automation of ours. Throws ApiError for what our steps cannot do. */
export function toOwnGraph({ steps, connections }: Graph): Pick<AutomationDetail, "trigger" | "steps" | "connections"> {
  const triggers = steps.flatMap((step) => (step.type === "trigger" ? [step] : []));
  const [trigger] = triggers;
  if (!trigger || triggers.length > 1)
    throw invalid("steps", "invalid_value", "steps: an automation begins with one step of the type trigger.");
  const toId = (key: string): string => (key === trigger.key ? START : key);
  return {
    trigger: { type: "event", name: trigger.config.event_name },
    steps: steps.flatMap((step, i) => (step.type === "trigger" ? [] : [toOwnStep(step, `steps[${i}]`)])),
    connections: connections.map(({ from, to, type }) => ({
      from: toId(from),
      to: toId(to),
      ...(type !== "default" && { branch: BRANCHES[type] }),
    })),
  };
}

function toOwnStep(step: Exclude<Step, { type: "trigger" }>, at: string): AutomationStep {
  const { key: id } = step;
  switch (step.type) {
    case "delay":
      return { id, type: "delay", for: toOwnDuration(step.config.duration, `${at}.config.duration`) };
    case "send_email": {
      const { template, from, ...others } = step.config;
      const { id: templateId, ...ofTemplate } = template;
      refuseOthers({ ...others, ...ofTemplate }, at);
      return { id, type: "send_email", templateId, ...drop({ from }) };
    }
    case "wait_for_event": {
      const { event_name: name, timeout, filter_rule: filter, ...others } = step.config;
      refuseOthers(others, at);
      if (!timeout) throw invalid(`${at}.config.timeout`, "required", `Missing \`${at}.config.timeout\` field.`);
      const only = filter ? { filter: toOwnRule(filter, `${at}.config.filter_rule`, toEventField) as EventFilter } : {};
      return {
        id,
        type: "wait_for_event",
        event: { type: "event", name, ...only },
        timeout: toOwnDuration(timeout, `${at}.config.timeout`),
      };
    }
    case "condition":
      return { id, type: "condition", rule: toOwnRule(step.config, `${at}.config`, toContactField) };
    case "contact_update": {
      const { first_name: firstName, last_name: lastName, properties, ...others } = step.config;
      refuseOthers(others, at);
      for (const value of [firstName, lastName, ...Object.values(properties ?? {})])
        if (typeof value === "object" && value !== null) throw notHere(at, "a value that is a variable");
      const texts = { ...(firstName !== undefined && { firstName }), ...(lastName !== undefined && { lastName }) };
      return { id, type: "update_contact", set: { ...texts, ...(properties && { customFields: properties }) } as never };
    }
    case "add_to_segment":
      return { id, type: "add_to_list", listId: step.config.segment_id };
    case "contact_delete":
      throw notHere(at, "the step contact_delete");
  }
}

/** Throws ApiError not_implemented for a field that our step has not. */
function refuseOthers(others: Readonly<Record<string, unknown>>, at: string): void {
  const [name] = Object.entries(others).flatMap(([field, value]) => (value === undefined || value === null ? [] : [field]));
  if (name !== undefined) throw notHere(at, name);
}

function notHere(at: string, what: string): ApiError {
  return new ApiError("not_implemented", `${at}: ${what} is not here.`, {
    hint: "Steps that are: trigger, delay, send_email, wait_for_event, condition, contact_update, add_to_segment. More: mailsvc automations create.",
  });
}

/** A duration such as 3d, of one such as "3 days". Throws ApiError validation_error. */
function toOwnDuration(text: string, path: string): string {
  const [, n, unit = ""] = /^(\d{1,6})\s*(second|minute|hour|day|week)s?$/i.exec(text.trim()) ?? [];
  if (n === undefined)
    throw invalid(path, "invalid_format", `${path}: ${JSON.stringify(text.slice(0, 50))} is no duration. Write 30 minutes or 3 days.`);
  const name = unit.toLowerCase();
  return name === "week" ? `${Number(n) * 7}d` : `${n}${UNITS[name as keyof typeof UNITS]}`;
}

function toForeignDuration(text: string): string {
  const parts = [...text.matchAll(/(\d+)([smhd])/g)].map(([, n, own]) => {
    const name = Object.entries(UNITS).find(([, unit]) => unit === own)?.[0] ?? "";
    return `${n} ${name}${n === "1" ? "" : "s"}`;
  });
  return parts.join(" ");
}

/** The name that a field of a rule has here; null if it has none. */
type ToField = (field: string) => string | null;

const toContactField: ToField = (field) => {
  const [, name = ""] = /^contact\.(?:properties\.)?(\w+)$/.exec(field) ?? [];
  return name === "" ? null : (CONTACT_FIELDS[name] ?? `customFields.${name}`);
};

const toEventField: ToField = (field) => {
  const [, name = ""] = /^(?:event\.)?(?:payload\.)?(\w+)$/.exec(field) ?? [];
  return name === "" ? null : `properties.${name}`;
};

const Rule = z.object({
  type: z.enum(["rule", "and", "or"]),
  field: z.string().optional(),
  operator: z.string().optional(),
  value: z.unknown(),
});

/** A rule of Resend's as one of ours. Throws ApiError for a field or an operator that is not here. */
function toOwnRule(given: unknown, at: string, toField: ToField): SegmentRule {
  const rules = (given as { readonly rules?: unknown } | null)?.rules;
  const parsed = Rule.safeParse(given);
  if (!parsed.success)
    throw invalid(at, "invalid_value", `${at} must be a rule: { type: "rule", field, operator, value }, or { type: "and", rules }.`);
  const { type, field = "", operator = "", value } = parsed.data;
  if (type !== "rule") {
    const all = Array.isArray(rules) ? rules.map((rule: unknown, i) => toOwnRule(rule, `${at}.rules[${i}]`, toField)) : [];
    return type === "and" ? { all } : { any: all };
  }
  const own = toField(field);
  if (own === null) throw notHere(at, `the field ${field}`);
  if (operator === "exists" || operator === "is_empty")
    return { field: own, operator: "exists", value: operator === "exists" } as SegmentRule;
  if (!Object.hasOwn(OPERATORS, operator)) throw notHere(at, `the operator ${operator}`);
  return { field: own, operator: OPERATORS[operator as keyof typeof OPERATORS], value } as SegmentRule;
}

/** The steps and connections as Resend shows them. Steps that it has not keep their type and fields. */
export function showGraph({ trigger, steps, connections }: Pick<AutomationDetail, "trigger" | "steps" | "connections">) {
  const start = trigger.type === "event" ? { event_name: trigger.name } : { event_name: trigger.type };
  return {
    steps: [{ key: START, type: "trigger", config: start }, ...steps.map(showStep)],
    connections: connections.map(({ from, to, branch }) => ({ from, to, type: CONNECTION_TYPES[branch ?? ""] ?? "default" })),
  };
}

/** The type of a step as Resend names it. */
export function nameStepType(type: string): string {
  return { update_contact: "contact_update", add_to_list: "add_to_segment" }[type] ?? type;
}

function showStep(step: AutomationStep) {
  const { id: key, type } = step;
  const common = { key, type: nameStepType(type) };
  switch (step.type) {
    case "delay":
      return { ...common, config: { duration: toForeignDuration(step.for) } };
    case "send_email":
      return { ...common, config: { template: { id: step.templateId }, ...drop({ from: step.from }) } };
    case "wait_for_event": {
      const { event } = step;
      const filter = event.type === "event" && event.filter ? { filter_rule: showRule(event.filter as SegmentRule) } : {};
      const name = event.type === "event" ? event.name : event.type;
      return { ...common, config: { event_name: name, timeout: toForeignDuration(step.timeout), ...filter } };
    }
    case "condition":
      return { ...common, config: showRule(step.rule) };
    case "update_contact": {
      const { customFields, firstName, lastName } = step.set;
      const texts = { ...(firstName !== undefined && { first_name: firstName }), ...(lastName !== undefined && { last_name: lastName }) };
      return { ...common, config: { ...texts, ...(customFields && { properties: customFields }) } };
    }
    case "add_to_list":
      return { ...common, config: { segment_id: step.listId } };
    default: {
      const { id: _id, type: _type, ...config } = step;
      return { ...common, config };
    }
  }
}

function showRule(rule: SegmentRule): object {
  if ("all" in rule) return { type: "and", rules: rule.all.map(showRule) };
  if ("any" in rule) return { type: "or", rules: rule.any.map(showRule) };
  if (!("field" in rule)) return { type: "not", rule };
  const known = Object.entries(CONTACT_FIELDS).find(([, own]) => own === rule.field);
  const field = known ? `contact.${known[0]}` : rule.field.replace(/^customFields\./, "contact.").replace(/^properties\./, "event.");
  if (rule.operator === "exists") return { type: "rule", field, operator: rule.value === false ? "is_empty" : "exists" };
  const operator = Object.entries(OPERATORS).find(([, own]) => own === rule.operator)?.[0] ?? rule.operator;
  return { type: "rule", field, operator, value: rule.value };
}
