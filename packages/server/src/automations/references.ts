import {
  type AutomationDefinition,
  type AutomationStep,
  type AutomationTrigger,
  type ErrorDetail,
  listReferences,
  parseMailbox,
  type ReferenceField,
  TEMPLATE_LIMITS,
  type TemplateDetail,
} from "@mailsvc/sdk/contract";
import { and, desc, eq, isNull } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { getWebhookRow } from "../developer-webhooks/developer-webhooks.ts";
import { assertReceives } from "../emails/emails.ts";
import { ApiError } from "../lib/api-error.ts";
import { getListRow } from "../lists/lists.ts";
import { assertNamesExist, getSegmentRow } from "../segments/segments.ts";
import { assertVerified } from "../senders/senders.ts";
import { assertSendable, getTemplateRow, getVersionRow as getTemplateVersionRow } from "../templates/templates.ts";
import type { AutomationDeps } from "./automations.ts";
import type { AutomationRow, VersionRow } from "./store.ts";

/** An automation with all fields that may refer to other objects. */
interface Referring extends AutomationDefinition {
  readonly trigger: AutomationTrigger;
  readonly goal: AutomationTrigger | null;
}

/** Functions that look up the objects a definition names. Each throws ApiError not_found. */
const GETTERS: Readonly<Record<ReferenceField, (q: Tx | Reader, workspaceId: string, id: string) => Promise<unknown>>> = {
  templateId: getTemplateRow,
  listId: getListRow,
  segmentId: getSegmentRow,
  webhookId: getWebhookRow,
};

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
  const checkAll = (path: string, of: string, part: object) =>
    check(path, of, async () => {
      for (const { field, id } of listReferences(part)) await GETTERS[field](q, workspaceId, id);
    });
  await checkAll("trigger", "The trigger", trigger);
  if (goal !== null) await checkAll("goal", "The goal", goal);
  for (const [i, step] of steps.entries()) {
    const of = `The step "${step.id}"`;
    for (const { field, id } of listReferences(step)) await check(`steps[${i}].${field}`, of, () => GETTERS[field](q, workspaceId, id));
    if ("rule" in step) await check(`steps[${i}].rule`, of, () => assertNamesExist(q, workspaceId, step.rule));
    if ("event" in step) await checkAll(`steps[${i}].event`, of, step.event);
  }
  throwDetails(details);
}

/**
 * Checks that a version can run, and pins the published versions of its templates unless they are pinned. Throws ApiError
 * validation_error or sender_not_verified.
 */
export async function pinReferences(
  tx: Tx,
  deps: AutomationDeps,
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

/** The published version of the template of a step, after checking its sender and where replies to it go. Throws ApiError. */
async function getPublishedVersion(
  tx: Tx,
  deps: AutomationDeps,
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
  const published = await getTemplateVersionRow(tx, template, template.version);
  const from = step.from ?? published.from;
  if (from === null) throw new ApiError("validation_error", `The template ${template.slug} has no sender. Give the step a from.`);
  await assertVerified(tx, deps, workspaceId, parseMailbox(from), "from");
  assertReceives(deps, published.replyTo);
  return template.version;
}

function throwDetails(details: ErrorDetail[]): void {
  const [first] = details;
  if (first) throw new ApiError("validation_error", first.message, { details: details.slice(0, 20) });
}

/** Lists automations, neither deleted nor archived, whose newest steps send a template; newest first, with a limit. */
export async function listAutomationsOfTemplate(
  q: Tx | Reader,
  { workspaceId, id }: { readonly workspaceId: string; readonly id: string },
): Promise<TemplateDetail["usedBy"]["automations"]> {
  const { automations: t, automationVersions: v } = q.t;
  return q
    .select({ id: t.id, name: t.name, status: t.status })
    .from(t)
    .innerJoin(v, and(eq(v.automationId, t.id), eq(v.version, t.version)))
    .where(and(eq(t.workspaceId, workspaceId), isNull(t.deletedAt), isNull(t.archivedAt), q.sqlDialect.jsonNames(v.steps, id)))
    .orderBy(desc(t.id))
    .limit(TEMPLATE_LIMITS.usedBy);
}
