import type { AutomationStep, AutomationTrigger, SegmentRule } from "@mailsvc/sdk/contract";

/** What makes a contact enter, reaches the goal or ends a wait, in some words. */
export function describeTrigger(trigger: AutomationTrigger): string {
  switch (trigger.type) {
    case "contact.created":
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

/** What a step does, in some words. */
export function describeStep(step: AutomationStep): string {
  switch (step.type) {
    case "send_email":
      return `sends ${step.templateId}`;
    case "delay":
      return `waits ${step.for}`;
    case "wait_until": {
      const moment = [step.date, step.weekdays?.map((day) => day.slice(0, 3)).join(" "), step.time, step.timeZone];
      return `waits until ${moment.filter((part) => part).join(" ")}`;
    }
    case "wait_for_event":
      return `waits ${step.timeout} for ${describeTrigger(step.event)}`;
    case "condition":
      return `asks ${describeRule(step.rule)}`;
    case "split":
      return `splits ${step.branches.map(({ name, weight }) => `${name} ${weight}`).join(" : ")}`;
    case "update_contact": {
      const { customFields = {}, ...fields } = step.set;
      const names = [...Object.keys(fields), ...Object.keys(customFields).map((name) => `customFields.${name}`)];
      return `sets ${names.join(", ")}`;
    }
    case "add_tag":
      return `adds tag ${step.tag}`;
    case "remove_tag":
      return `removes tag ${step.tag}`;
    case "add_to_list":
      return `adds to list ${step.listId}`;
    case "remove_from_list":
      return `removes from list ${step.listId}`;
    case "webhook":
      return `calls ${step.webhookId}`;
    case "goal":
      return "reaches the goal";
    case "exit":
      return step.reason === undefined ? "exits" : `exits: ${step.reason}`;
  }
}

/** A rule tree, or a filter of events, which has the same form. */
type Rule = { all: readonly Rule[] } | { any: readonly Rule[] } | { not: Rule } | { field: string; operator: string; value?: unknown };

function describeRule(rule: SegmentRule | Rule): string {
  if ("all" in rule) return rule.all.map(describeInner).join(" and ");
  if ("any" in rule) return rule.any.map(describeInner).join(" or ");
  if ("not" in rule) return `not ${describeInner(rule.not)}`;
  const { field, operator, value } = rule;
  const told = value === undefined ? "" : ` ${Array.isArray(value) ? value.join(", ") : String(value)}`;
  return `${field} ${operator}${told}`;
}

function describeInner(rule: SegmentRule | Rule): string {
  const text = describeRule(rule);
  return ("all" in rule && rule.all.length > 1) || ("any" in rule && rule.any.length > 1) ? `(${text})` : text;
}
