import type { AutomationDefinition, AutomationStep, AutomationTrigger, ErrorDetail } from "@mailsvc/sdk/contract";
import { parseMailbox } from "@mailsvc/sdk/contract";
import { and, eq } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import type { Deps } from "../deps.ts";
import { getWebhookRow } from "../developer-webhooks/developer-webhooks.ts";
import { ApiError } from "../lib/api-error.ts";
import { getListRow } from "../lists/lists.ts";
import { getSegmentRow } from "../segments/segments.ts";
import { assertVerified } from "../senders/senders.ts";
import { assertSendable, getTemplateRow, getVersionRow as getTemplateVersionRow } from "../templates/templates.ts";
import type { AutomationRow, VersionRow } from "./store.ts";

/** What an automation refers to. */
interface Referring extends AutomationDefinition {
  readonly trigger: AutomationTrigger;
  readonly goal: AutomationTrigger | null;
}

/** Checks that the templates, lists and segments of an automation exist. Throws ApiError validation_error that names the step. */
export async function assertReferences(q: Tx | Reader, workspaceId: string, { trigger, goal, steps }: Referring): Promise<void> {
  const details: ErrorDetail[] = [];
  const check = async (path: string, of: string, found: () => Promise<unknown>): Promise<void> => {
    try {
      await found();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      details.push({ path, code: error.code, message: `${of}: ${error.message}` });
    }
  };
  await check("trigger", "The trigger", () => assertTriggerExists(q, workspaceId, trigger));
  if (goal !== null) await check("goal", "The goal", () => assertTriggerExists(q, workspaceId, goal));
  for (const [i, step] of steps.entries()) {
    const of = `The step "${step.id}"`;
    if (step.type === "send_email") await check(`steps[${i}].templateId`, of, () => getTemplateRow(q, workspaceId, step.templateId));
    if (step.type === "add_to_list" || step.type === "remove_from_list")
      await check(`steps[${i}].listId`, of, () => getListRow(q, workspaceId, step.listId));
    if (step.type === "webhook") await check(`steps[${i}].webhookId`, of, () => getWebhookRow(q, workspaceId, step.webhookId));
    if (step.type === "wait_for_event") await check(`steps[${i}].event`, of, () => assertTriggerExists(q, workspaceId, step.event));
  }
  throwDetails(details);
}

/**
 * Checks that a version can run, and pins the published versions of its templates unless they are pinned. Throws ApiError
 * validation_error or sender_not_verified.
 */
export async function pinReferences(
  tx: Tx,
  deps: Deps,
  row: Pick<AutomationRow, "workspaceId" | "trigger" | "goal">,
  version: VersionRow,
): Promise<void> {
  if (version.steps.length === 0)
    throw new ApiError("validation_error", "This automation has no steps. Add some before you activate it.", {
      details: [{ path: "steps", code: "required", message: "At least one step is needed." }],
    });
  await assertReferences(tx, row.workspaceId, { ...row, steps: version.steps, connections: version.connections });
  const templates: Record<string, number> = { ...version.templates };
  const details: ErrorDetail[] = [];
  for (const [i, step] of version.steps.entries()) {
    if (step.type !== "send_email") continue;
    try {
      const published = await getPublishedVersion(tx, deps, row.workspaceId, step);
      templates[step.templateId] ??= published;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      details.push({ path: `steps[${i}]`, code: error.code, message: `The step "${step.id}": ${error.message}` });
    }
  }
  throwDetails(details);
  if (version.templates !== null) return;
  const { automationVersions: t } = tx.t;
  await tx
    .update(t)
    .set({ templates })
    .where(and(eq(t.automationId, version.automationId), eq(t.version, version.version)));
}

/** The published version of the template of a step, after checking its sender. Throws ApiError. */
async function getPublishedVersion(
  tx: Tx,
  deps: Deps,
  workspaceId: string,
  step: AutomationStep & { type: "send_email" },
): Promise<number> {
  const template = await getTemplateRow(tx, workspaceId, step.templateId);
  assertSendable(template);
  if (template.version === null || template.status === "INACTIVE")
    throw new ApiError(
      "template_not_found",
      `The template ${template.slug} is ${template.version === null ? "not published" : "inactive"}.`,
    );
  const from = step.from ?? (await getTemplateVersionRow(tx, template, template.version)).from;
  if (from === null) throw new ApiError("validation_error", `The template ${template.slug} has no sender. Give the step a from.`);
  await assertVerified(tx, deps, workspaceId, parseMailbox(from), "from");
  return template.version;
}

async function assertTriggerExists(q: Tx | Reader, workspaceId: string, trigger: AutomationTrigger): Promise<void> {
  if ("listId" in trigger) await getListRow(q, workspaceId, trigger.listId);
  if ("segmentId" in trigger) await getSegmentRow(q, workspaceId, trigger.segmentId);
}

function throwDetails(details: ErrorDetail[]): void {
  const [first] = details;
  if (first) throw new ApiError("validation_error", first.message, { details: details.slice(0, 20) });
}
