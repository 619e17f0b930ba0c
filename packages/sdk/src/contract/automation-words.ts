import type { AutomationTrigger } from "./automation-triggers.ts";
import type { SegmentCondition, SegmentRule } from "./rule-fields.ts";

/** Describes a trigger, a goal or the end of a wait in a few words. */
export function describeTrigger(trigger: AutomationTrigger): string {
  switch (trigger.type) {
    case "contact.created":
    case "replied":
      return trigger.type;
    case "tag.added":
    case "tag.removed":
      return `${trigger.type} ${trigger.tag}`;
    case "list.joined":
    case "list.left":
      return `${trigger.type} ${trigger.listId}`;
    case "segment.entered":
    case "segment.left":
      return `${trigger.type} ${trigger.segmentId}`;
    case "event":
      return `event ${trigger.name}${trigger.filter === undefined ? "" : `, ${describeRule(trigger.filter)}`}`;
    case "date": {
      const { field, days = 0, yearly = false, time, timeZone } = trigger;
      const shift = days === 0 ? "" : `${Math.abs(days)} ${Math.abs(days) === 1 ? "day" : "days"} ${days < 0 ? "before" : "after"} `;
      return [`${shift}${field}`, yearly ? "every year" : null, time, timeZone].filter((part) => part).join(", ");
    }
  }
}

/** A rule tree, or a filter of events, which has the same form. */
type Rule = { all: readonly Rule[] } | { any: readonly Rule[] } | { not: Rule } | Condition;

type Condition = { field: string; operator: string; value?: unknown } & Pick<
  SegmentCondition,
  "within" | "campaign" | "template" | "where"
>;

/** Describes a condition in a few words. */
export function describeRule(rule: SegmentRule | Rule): string {
  if ("all" in rule) return rule.all.map(describeInner).join(" and ");
  if ("any" in rule) return rule.any.map(describeInner).join(" or ");
  if ("not" in rule) return `not ${describeInner(rule.not)}`;
  const { field, operator, value } = rule;
  const told = value === undefined ? "" : ` ${Array.isArray(value) ? value.join(", ") : String(value)}`;
  return `${field} ${operator}${told}${describeDetails(rule)}`;
}

/** Describes which events a condition on what people did counts, with a space before it; nothing for other conditions. */
export function describeDetails({
  within,
  campaign,
  template,
  where,
}: Pick<SegmentCondition, "within" | "campaign" | "template" | "where">) {
  const parts = [
    campaign === undefined ? "" : ` campaign ${campaign}`,
    template === undefined ? "" : ` template ${template}`,
    within === undefined ? "" : ` within ${within}`,
    where === undefined ? "" : ` where ${describeInner(where)}`,
  ];
  return parts.join("");
}

function describeInner(rule: SegmentRule | Rule): string {
  const text = describeRule(rule);
  return ("all" in rule && rule.all.length > 1) || ("any" in rule && rule.any.length > 1) ? `(${text})` : text;
}
