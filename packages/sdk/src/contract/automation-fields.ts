import { z } from "zod";
import { MailboxText } from "./address.ts";
import { mapContactTexts } from "./contact-fields.ts";
import { ContactPatch, TagName } from "./contacts.ts";
import { durationMs } from "./dev.ts";
import { TrackedName } from "./event-types.ts";
import { line } from "./name.ts";
import { SegmentRuleSchema } from "./segment-rules.ts";

/** Limits of automations (SPEC is silent about them). */
export const AUTOMATION_LIMITS = {
  name: 200,
  description: 1000,
  steps: 100,
  stepId: 50,
  branches: 10,
  delayDays: 365,
  reEntryDelayHours: 8760,
  /** Steps that one entry takes before it fails: the bound of loops. */
  moves: 1000,
} as const;

/** The states of an automation (SPEC 3). */
export const AUTOMATION_STATUSES = ["DRAFT", "ACTIVE", "PAUSED"] as const;
export type AutomationStatus = (typeof AUTOMATION_STATUSES)[number];

/** ACTIVE while inside; COMPLETED at the end of the path; EXITED and FAILED before that, with a reason. */
export const ENTRY_STATUSES = ["ACTIVE", "COMPLETED", "EXITED", "FAILED"] as const;
export type EntryStatus = (typeof ENTRY_STATUSES)[number];

/** The start of every definition: the `from` of its first connection. */
export const TRIGGER_STEP = "trigger";

/** A currency by its code (ISO 4217). */
export const Currency = z
  .string()
  .regex(/^[A-Z]{3}$/, "Write a currency such as USD or EUR.")
  .meta({ description: "Currency, such as USD or EUR" });

const Id = z.string().min(1).max(100);

/** The types of triggers and goals. */
export const TRIGGER_TYPES = [
  "contact.created",
  "tag.added",
  "tag.removed",
  "list.joined",
  "list.left",
  "segment.entered",
  "segment.left",
  "event",
] as const;

/** What makes a contact enter, or reach the goal. */
export const AutomationTrigger = z
  .discriminatedUnion(
    "type",
    [
      z.strictObject({ type: z.literal("contact.created") }),
      z.strictObject({ type: z.literal("tag.added"), tag: TagName }),
      z.strictObject({ type: z.literal("tag.removed"), tag: TagName }),
      z.strictObject({ type: z.literal("list.joined"), listId: Id }),
      z.strictObject({ type: z.literal("list.left"), listId: Id }),
      z.strictObject({ type: z.literal("segment.entered"), segmentId: Id }),
      z.strictObject({ type: z.literal("segment.left"), segmentId: Id }),
      z.strictObject({ type: z.literal("event"), name: z.union([z.enum(["email.opened", "email.clicked"]), TrackedName]) }),
    ],
    { error: `type is one of ${TRIGGER_TYPES.join(", ")}.` },
  )
  .meta({ id: "AutomationTrigger" });
export type AutomationTrigger = z.infer<typeof AutomationTrigger>;

const StepId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]*$/i, "The id of a step has letters, digits, - and _.")
  .max(AUTOMATION_LIMITS.stepId)
  .refine((id) => id !== TRIGGER_STEP, { message: `"${TRIGGER_STEP}" is the start of the automation. Choose another id.` })
  .meta({ description: "The name of the step, for connections" });

const Delay = z
  .string()
  .max(30)
  .regex(/^(?:\d{1,6}(?:s|m|h|d))+$/, "Write a duration such as 30m, 12h or 3d.")
  .refine((text) => durationMs(text) > 0 && durationMs(text) <= AUTOMATION_LIMITS.delayDays * 86_400_000, {
    message: `A delay lasts from 1s to ${AUTOMATION_LIMITS.delayDays}d.`,
  })
  .meta({ description: "A duration such as 30m, 12h or 3d" });

const Weight = z.strictObject({ name: StepId, weight: z.int().min(1).max(1000) });

/** The types of steps. */
export const STEP_TYPES = [
  "send_email",
  "delay",
  "condition",
  "split",
  "update_contact",
  "add_tag",
  "remove_tag",
  "add_to_list",
  "remove_from_list",
  "goal",
  "exit",
] as const;

/** One step. `condition` leads to the branches `yes` and `no`, `split` to those it names, every other step has one way on. */
export const AutomationStep = z
  .discriminatedUnion(
    "type",
    [
      z.strictObject({
        id: StepId,
        type: z.literal("send_email"),
        templateId: Id.meta({ description: "A published template; its version is pinned on activation" }),
        from: MailboxText.optional().meta({ description: "The sender; that of the template when absent" }),
      }),
      z.strictObject({ id: StepId, type: z.literal("delay"), for: Delay }),
      z.strictObject({ id: StepId, type: z.literal("condition"), rule: SegmentRuleSchema }),
      z.strictObject({ id: StepId, type: z.literal("split"), branches: z.array(Weight).min(2).max(AUTOMATION_LIMITS.branches) }),
      z.strictObject({
        id: StepId,
        type: z.literal("update_contact"),
        set: z.strictObject({ ...mapContactTexts((field) => ContactPatch.shape[field]), customFields: ContactPatch.shape.customFields }),
      }),
      z.strictObject({ id: StepId, type: z.literal("add_tag"), tag: TagName }),
      z.strictObject({ id: StepId, type: z.literal("remove_tag"), tag: TagName }),
      z.strictObject({ id: StepId, type: z.literal("add_to_list"), listId: Id }),
      z.strictObject({ id: StepId, type: z.literal("remove_from_list"), listId: Id }),
      z.strictObject({ id: StepId, type: z.literal("goal") }),
      z.strictObject({ id: StepId, type: z.literal("exit"), reason: line(200).optional() }),
    ],
    { error: ({ input }) => describeUnknownStep(input) },
  )
  .meta({ id: "AutomationStep" });
export type AutomationStep = z.infer<typeof AutomationStep>;

/** Leads from the trigger or a step to the next step; out of a `condition` or `split`, along one of its branches. */
export const AutomationConnection = z
  .strictObject({
    from: z
      .string()
      .min(1)
      .max(AUTOMATION_LIMITS.stepId)
      .meta({ description: `The id of a step, or "${TRIGGER_STEP}"` }),
    to: z.string().min(1).max(AUTOMATION_LIMITS.stepId).meta({ description: "The id of a step" }),
    branch: z.string().min(1).max(AUTOMATION_LIMITS.stepId).optional().meta({ description: "Of a condition or split: which branch" }),
  })
  .meta({ id: "AutomationConnection" });
export type AutomationConnection = z.infer<typeof AutomationConnection>;

/** The graph of an automation. */
export interface AutomationDefinition {
  readonly steps: readonly AutomationStep[];
  readonly connections: readonly AutomationConnection[];
}

/** A fault of a definition: where it is, and a message that names the step. */
export interface DefinitionFault {
  readonly path: (string | number)[];
  readonly code: string;
  readonly message: string;
}

/** The branches that lead out of a step; null for a step with one unnamed way on. */
export function listBranches(step: AutomationStep): readonly string[] | null {
  if (step.type === "condition") return ["yes", "no"];
  return step.type === "split" ? step.branches.map(({ name }) => name) : null;
}

/**
 * The faults of a definition: ids used twice, connections with unknown steps or branches, two ways on where there is one, steps that
 * cannot be reached, and cycles in which no step waits. Empty if it is valid. A branch without a connection ends there.
 */
export function listDefinitionFaults({ steps, connections }: AutomationDefinition): DefinitionFault[] {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const faults = [...listStepFaults(steps), ...listConnectionFaults(byId, connections)];
  // Only in a graph whose connections are right can steps be reached.
  if (faults.length > 0) return faults;
  const reached = new Set<string>();
  const queue = [TRIGGER_STEP];
  for (let from = queue.pop(); from !== undefined; from = queue.pop())
    for (const { to } of connections.filter((c) => c.from === from)) {
      if (reached.has(to)) continue;
      reached.add(to);
      queue.push(to);
    }
  for (const [i, { id }] of steps.entries())
    if (!reached.has(id))
      faults.push({
        path: ["steps", i],
        code: "unreachable",
        message: `No connection leads from "${TRIGGER_STEP}" to the step "${id}". Connect it, or remove it.`,
      });
  const cycle = findCycleWithoutDelay(byId, connections);
  if (cycle)
    faults.push({
      path: ["connections"],
      code: "cycle_without_delay",
      message: `The steps ${cycle.map((id) => `"${id}"`).join(" → ")} go round without a delay. Put a delay into the cycle.`,
    });
  return faults;
}

function listStepFaults(steps: readonly AutomationStep[]): DefinitionFault[] {
  const seen = new Set<string>();
  return steps.flatMap((step, i): DefinitionFault[] => {
    const faults: DefinitionFault[] = [];
    if (seen.has(step.id))
      faults.push({ path: ["steps", i, "id"], code: "duplicate", message: `Two steps have the id "${step.id}". Rename one of them.` });
    seen.add(step.id);
    const names = listBranches(step) ?? [];
    if (new Set(names).size < names.length)
      faults.push({
        path: ["steps", i, "branches"],
        code: "duplicate",
        message: `Two branches of the step "${step.id}" have the same name.`,
      });
    return faults;
  });
}

function listConnectionFaults(byId: ReadonlyMap<string, AutomationStep>, connections: readonly AutomationConnection[]): DefinitionFault[] {
  const faults: DefinitionFault[] = [];
  const seen = new Set<string>();
  for (const [i, { from, to, branch }] of connections.entries()) {
    const report = (field: string, code: string, message: string): void =>
      void faults.push({ path: ["connections", i, field], code, message });
    const step = byId.get(from);
    if (!step && from !== TRIGGER_STEP) report("from", "unknown_step", `There is no step "${from}".`);
    if (!byId.has(to)) report("to", "unknown_step", `There is no step "${to}".`);
    const branches = step ? listBranches(step) : null;
    if (branches !== null && (branch === undefined || !branches.includes(branch)))
      report("branch", "unknown_branch", `A connection from the step "${from}" names one of its branches: ${branches.join(", ")}.`);
    else if (branches === null && branch !== undefined) report("branch", "unknown_branch", `"${from}" has no branches. Remove branch.`);
    if (step?.type === "exit") report("from", "after_exit", `The step "${from}" ends the automation: nothing can follow it.`);
    const key = JSON.stringify([from, branch]);
    if (seen.has(key)) report("from", "duplicate", `Two connections lead out of "${from}"${branch === undefined ? "" : ` by ${branch}`}.`);
    seen.add(key);
  }
  if (byId.size > 0 && !connections.some(({ from }) => from === TRIGGER_STEP))
    faults.push({
      path: ["connections"],
      code: "no_start",
      message: `No connection begins at "${TRIGGER_STEP}". Add { "from": "${TRIGGER_STEP}", "to": "${[...byId.keys()][0]}" }.`,
    });
  return faults;
}

/** The ids of the steps of a cycle in which no step waits; null if there is none. */
function findCycleWithoutDelay(byId: ReadonlyMap<string, AutomationStep>, connections: readonly AutomationConnection[]): string[] | null {
  const done = new Set<string>();
  const visit = (id: string, trail: readonly string[]): string[] | null => {
    if (done.has(id) || byId.get(id)?.type === "delay") return null;
    if (trail.includes(id)) return [...trail.slice(trail.indexOf(id)), id];
    for (const { to } of connections.filter(({ from }) => from === id)) {
      const cycle = visit(to, [...trail, id]);
      if (cycle) return cycle;
    }
    done.add(id);
    return null;
  };
  for (const id of byId.keys()) {
    const cycle = visit(id, []);
    if (cycle) return cycle;
  }
  return null;
}

function describeUnknownStep(input: unknown): string {
  const id = typeof input === "object" && input !== null && "id" in input ? ` of the step ${JSON.stringify(input.id)?.slice(0, 60)}` : "";
  return `The type${id} is one of ${STEP_TYPES.join(", ")}.`;
}
