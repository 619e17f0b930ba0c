import { EVENT_FIELDS, type EventFilter, propertyName } from "./rule-fields.ts";
import { describeRules, listRuleErrors, type RuleFields } from "./segment-rules.ts";
import * as z from "./zod.ts";

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
