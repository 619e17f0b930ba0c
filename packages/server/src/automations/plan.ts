import type { AutomationStep } from "@mailsvc/sdk/contract";
import type { Reader } from "../db/db.ts";
import type { CompiledTemplates } from "../templates/templates.ts";
import { loadTemplate, type MailTemplate } from "./mail.ts";
import { getVersionRow } from "./store.ts";

/** A version of a definition, ready to be run. */
export interface Plan {
  /** The step with an id; null for none, which is the end of the path. */
  find(stepId: string | null): AutomationStep | null;
  /** The step that follows another one along a branch; null at the end of the path. */
  next(stepId: string, branch: string | undefined): string | null;
  /** The templates of its steps, by the ids of the templates. */
  readonly templates: ReadonlyMap<string, MailTemplate>;
}

/** Loads a version with its compiled templates. Outside of transactions: compiling takes its time. */
export async function loadPlan(
  read: Reader,
  cache: CompiledTemplates,
  workspaceId: string,
  automationId: string,
  version: number,
): Promise<Plan> {
  const { steps, connections, templates: pinned } = await getVersionRow(read, automationId, version);
  const byId = new Map(steps.map((step) => [step.id, step]));
  const ways = new Map(connections.map(({ from, branch = "", to }) => [`${from} ${branch}`, to]));
  const templates = new Map<string, MailTemplate>();
  for (const step of steps)
    if (step.type === "send_email" && !templates.has(step.templateId))
      templates.set(step.templateId, await loadTemplate(read, cache, workspaceId, step.templateId, pinned));
  return {
    find: (stepId) => byId.get(stepId ?? "") ?? null,
    next: (stepId, branch = "") => ways.get(`${stepId} ${branch}`) ?? null,
    templates,
  };
}
