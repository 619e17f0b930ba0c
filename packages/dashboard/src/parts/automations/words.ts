import type { AutomationDetail, AutomationEntry, AutomationStep, EntryStep, RuleOperator } from "@mailsvc/sdk/contract";
import { kindOfField, propertyName } from "@mailsvc/sdk/contract/facts";
import type { Details } from "../rules/values.ts";
import { fieldWords, operatorWords } from "../rules/words.ts";

/** The names of what steps, triggers and goals name by their ids. */
export type Names = ReadonlyMap<string, string>;

type Trigger = AutomationDetail["trigger"];
type Rule =
  | { all: readonly Rule[] }
  | { any: readonly Rule[] }
  | { not: Rule }
  | ({ field: string; operator: RuleOperator; value?: unknown } & Details);

/** Describes an occurrence that makes a contact enter, reaches the goal or ends a wait. */
export function describeOccurrence(trigger: Trigger, names: Names): string {
  const name = (id: string): string => names.get(id) ?? id;
  switch (trigger.type) {
    case "contact.created":
      return "A contact is created";
    case "tag.added":
      return `The tag ${trigger.tag} is added`;
    case "tag.removed":
      return `The tag ${trigger.tag} is removed`;
    case "list.joined":
      return `Joins the list ${name(trigger.listId)}`;
    case "list.left":
      return `Leaves the list ${name(trigger.listId)}`;
    case "segment.entered":
      return `Enters the segment ${name(trigger.segmentId)}`;
    case "segment.left":
      return `Leaves the segment ${name(trigger.segmentId)}`;
    case "replied":
      return "Answers a mail";
    case "event":
      return `${EVENTS[trigger.name] ?? `The event ${trigger.name}`}${trigger.filter === undefined ? "" : `, ${describeRule(trigger.filter, names)}`}`;
    case "date": {
      const { field, days = 0, yearly = false, time, timeZone } = trigger;
      const shift = days === 0 ? "On" : `${Math.abs(days)} ${Math.abs(days) === 1 ? "day" : "days"} ${days < 0 ? "before" : "after"}`;
      return [`${shift} ${field.replace("customFields.", "")}`, yearly ? "every year" : null, time, timeZone]
        .filter((part) => part)
        .join(", ");
    }
  }
}

/** Says what happens to somebody, within a sentence: `the contact opens a mail`. */
export function sayOccurrence(trigger: Trigger, names: Names, who: string): string {
  const text = describeOccurrence(trigger, names);
  const lower = text.charAt(0).toLowerCase() + text.slice(1);
  switch (trigger.type) {
    case "contact.created":
      return `${who} is created`;
    case "list.joined":
    case "list.left":
    case "segment.entered":
    case "segment.left":
    case "replied":
      return `${who} ${lower}`;
    case "event":
      return trigger.name in EVENTS ? `${who} ${lower}` : lower.replace(/^the event [^,]*/, "$& happens");
    case "date":
      return lower.startsWith("on ") ? lower.replace(/^on ([^,]*)/, "$1 comes") : `it is ${lower}`;
    default:
      return lower;
  }
}

/** The triggers in a list, where their details are not known. */
export const TRIGGERS: Readonly<Record<Trigger["type"], string>> = {
  "contact.created": "A contact is created",
  "tag.added": "A tag is added",
  "tag.removed": "A tag is removed",
  "list.joined": "Joins a list",
  "list.left": "Leaves a list",
  "segment.entered": "Enters a segment",
  "segment.left": "Leaves a segment",
  replied: "Answers a mail",
  event: "An event",
  date: "A date comes",
};

const EVENTS: Readonly<Record<string, string>> = { "email.opened": "Opens a mail", "email.clicked": "Clicks in a mail" };

/** A step in a sentence: `Send “Welcome”`. */
export function sayStep(step: AutomationStep, names: Names): string {
  const { kind, what } = describeStep(step, names);
  return `${kind} ${what}`.trim();
}

/** A step: what kind it is, and what it does; together they are a sentence. */
export function describeStep(step: AutomationStep, names: Names): { readonly kind: string; readonly what: string } {
  const name = (id: string): string => names.get(id) ?? id;
  switch (step.type) {
    case "send_email":
      return { kind: "Send", what: quote(name(step.templateId)) };
    case "delay":
      return { kind: "Wait", what: describeDuration(step.for) };
    case "wait_until": {
      const days = step.weekdays?.map((day) => day.slice(0, 3).replace(/^./, (c) => c.toUpperCase())).join(", ");
      return { kind: "Wait until", what: [step.date, days, step.time, step.timeZone].filter((part) => part).join(", ") };
    }
    case "wait_for_event":
      return { kind: `Wait up to ${describeDuration(step.timeout)} until`, what: sayOccurrence(step.event, names, "the contact") };
    case "condition":
      return { kind: "If", what: describeRule(step.rule, names) };
    case "split":
      return { kind: "Split", what: step.branches.map((branch) => `${branch.name} ${branch.weight}`).join(" : ") };
    case "update_contact": {
      const { customFields = {}, ...fields } = step.set;
      return { kind: "Set", what: [...Object.keys(fields), ...Object.keys(customFields)].join(", ") };
    }
    case "webhook":
      return { kind: "Call the webhook", what: quote(name(step.webhookId)) };
    case "goal":
      return { kind: "Goal", what: "reached" };
    case "exit":
      return { kind: "Exit", what: step.reason ?? "" };
    default: {
      const { id: _, type, ...fields } = step;
      const [first = ""] = Object.values(fields).filter((value) => typeof value === "string");
      const words = type.replaceAll("_", " ");
      return { kind: `${words.charAt(0).toUpperCase()}${words.slice(1)}`, what: first === "" ? "" : quote(name(first)) };
    }
  }
}

function quote(name: string): string {
  return `“${name}”`;
}

const UNITS: Readonly<Record<string, string>> = { s: "second", m: "minute", h: "hour", d: "day" };

/** A duration such as 1h30m in words. */
export function describeDuration(text: string): string {
  const parts = [...text.matchAll(/(\d+)([smhd])/g)].map(
    ([, count = "", unit = ""]) => `${Number(count)} ${UNITS[unit]}${count === "1" ? "" : "s"}`,
  );
  return parts.join(" ");
}

/** A branch in words: what happened, and what did not. */
export function nameBranch(branch: string): string {
  return branch === "event" ? "it happens" : branch === "timeout" ? "not in time" : branch;
}

/** Describes a condition. */
export function describeRule(rule: Rule | object, names: Names): string {
  const tree = rule as Rule;
  if ("all" in tree) return tree.all.map((one) => describeInner(one, names)).join(" and ");
  if ("any" in tree) return tree.any.map((one) => describeInner(one, names)).join(" or ");
  if ("not" in tree) return `not ${describeInner(tree.not, names)}`;
  const { field, operator, value, within, campaign, template, where } = tree;
  // The words of these operators already contain their value.
  const values = operator === "exists" || value === undefined ? [] : [value].flat().map((one) => names.get(String(one)) ?? String(one));
  const kind = kindOfField(field) ?? "custom";
  const parts = [
    propertyName(field) ?? fieldWords(field),
    operatorWords(kind, operator, value),
    kind === "count" && values.length > 0 ? `${values.join()} times` : values.join(", "),
    campaign === undefined ? "" : `of the campaign ${names.get(campaign) ?? campaign}`,
    template === undefined ? "" : `of the template ${template}`,
    within === undefined ? "" : `within ${describeDuration(within)}`,
    where === undefined ? "" : `whose ${describeInner(where, names)}`,
  ];
  return parts.filter(Boolean).join(" ");
}

function describeInner(rule: Rule, names: Names): string {
  const text = describeRule(rule, names);
  return ("all" in rule && rule.all.length > 1) || ("any" in rule && rule.any.length > 1) ? `(${text})` : text;
}

const REASONS: Readonly<Record<string, string>> = {
  inside: "is inside already",
  entered_before: "was inside before, and contacts enter once",
  re_entry_delay: "was inside not long enough ago to enter again",
  contact_deleted: "the contact was deleted",
  too_many_steps: "took too many steps",
  sender_not_verified: "the sender is not verified any more",
  recipient_suppressed: "the contact is suppressed or has unsubscribed",
  template_not_found: "the template is gone or not published",
  missing_variables: "a variable that the template needs is missing",
  no_sender: "neither the step nor the template has a sender",
  not_found: "what it names is gone",
  webhook_disabled: "the webhook is disabled",
  replied: "the contact has answered",
  exit: "came to an exit",
};

/** A reason of the service in words; one of the definition as it is. */
export function describeReason(reason: string): string {
  return REASONS[reason] ?? reason.replaceAll("_", " ");
}

const STATUSES: Readonly<Record<AutomationEntry["status"], string>> = {
  ACTIVE: "inside",
  COMPLETED: "completed",
  EXITED: "left",
  FAILED: "failed",
};

/** Names the state of an entry. */
export function nameEntryStatus(status: AutomationEntry["status"]): string {
  return STATUSES[status];
}

/** Describes the outcome of a step on a path. */
export function describeTaken({ outcome, reason, branch }: Pick<EntryStep, "outcome" | "reason" | "branch">): string | null {
  const parts = [
    ...(outcome === "skipped"
      ? [`Skipped${reason === null ? "" : `: ${describeReason(reason)}`}`]
      : reason === null
        ? []
        : [describeReason(reason)]),
    ...(branch === null ? [] : [`→ ${nameBranch(branch)}`]),
  ];
  return parts.length === 0 ? null : parts.join(" ");
}
