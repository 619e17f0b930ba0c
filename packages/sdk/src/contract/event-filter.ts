import type { RuleOperator } from "./rule-fields.ts";
import { describeRules, listRuleErrors, type RuleFields } from "./segment-rules.ts";
import * as z from "./zod.ts";

const PROPERTIES = "properties.";

/** The fields of an event that a filter may name, besides `properties.<name>`. A field an event does not have matches only negative operators. */
export const EVENT_FIELDS = ["value", "currency", "url", "campaignId"] as const;

/** One condition on an event. */
export interface EventCondition {
  field: (typeof EVENT_FIELDS)[number] | `properties.${string}`;
  operator: RuleOperator;
  value?: string | number | boolean | (string | number)[] | undefined;
}

/** A rule tree about an event, as segments have about contacts. */
export type EventFilter = { all: EventFilter[] } | { any: EventFilter[] } | { not: EventFilter } | EventCondition;

/** The name of a property; null for the other fields of events. */
export function propertyName(field: string): string | null {
  return field.startsWith(PROPERTIES) ? field.slice(PROPERTIES.length) : null;
}

const FIELDS: RuleFields = {
  kindOf: (field) => (propertyName(field) !== null || (EVENT_FIELDS as readonly string[]).includes(field) ? "custom" : null),
  customNameOf: propertyName,
  known: `${EVENT_FIELDS.join(", ")} or properties.<name>`,
};

const example: EventFilter = {
  all: [
    { field: "value", operator: "gte", value: 100 },
    { field: "properties.plan", operator: "equals", value: "pro" },
  ],
};

/** A validated filter. Each error has the path to its place, a code and what to do. */
export const EventFilterSchema = z
  .custom<EventFilter>()
  .superRefine((rule, ctx) => {
    for (const { path, code, message } of listRuleErrors(rule, FIELDS)) ctx.addIssue({ code: "custom", path, message, params: { code } });
  })
  .meta({
    id: "EventFilter",
    description:
      "Which events count: a rule tree as segments have. value, currency and properties.<name> are those of a tracked event, url and " +
      "campaignId those of email.clicked and email.opened.",
    anyOf: describeRules("EventFilter", FIELDS),
    examples: [example],
  });
