import {
  AUTOMATION_LIMITS,
  type AutomationStep,
  type DryRun,
  type DryRunStep,
  type ErrorDetail,
  type HandlerInput,
  listBranches,
  type MailsvcContract,
  mapContactTexts,
  TRIGGER_STEP,
} from "@mailsvc/sdk/contract";
import { type ContactRow, getContactRow, tagKey } from "../contacts/contacts.ts";
import type { Reader } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { ApiError, invalid, notFound } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { HOUR } from "../lib/units.ts";
import { loadContactViews } from "../segments/segments.ts";
import { getTemplateRow } from "../templates/templates.ts";
import { getBrand } from "../workspaces/workspaces.ts";
import { type AutomationDeps, assertVersion } from "./automations.ts";
import type { Foresight, ForesightContext, Traveller } from "./steps/step.ts";
import { foreseeStep } from "./steps/steps.ts";
import { type AutomationRow, getAutomationRow, getVersionRow, type VersionRow } from "./store.ts";

/**
 * The path a contact would take through an automation, and what each step would do. Nothing is sent or changed: later steps see the
 * contact as the earlier ones would leave it. Throws ApiError not_found, or validation_error
 * for an assumption about a branch that does not exist, or for a version besides a definition.
 */
export async function dryRun(
  read: Reader,
  deps: AutomationDeps,
  workspaceId: string,
  { id, contact: ref, version: number, definition, at, event, assume = {} }: HandlerInput<MailsvcContract["automations"]["test"]>,
): Promise<DryRun> {
  const automation = await getAutomationRow(read, workspaceId, id);
  assertVersion(automation, number);
  if (number !== undefined && definition) throw invalid("definition", "not_allowed", "Give either a version or a definition.");
  const saved = await getVersionRow(read, id, number ?? automation.version);
  // Templates of what is not saved are not pinned yet.
  const version = definition ? { ...saved, ...definition, templates: null } : saved;
  assertAssumptions(version.steps, assume);
  const contact = await getContactRow(read, workspaceId, ref);
  const enteredAt = at === undefined ? deps.clock.now() : Date.parse(at);
  // Conditions count what the contact did when the journey reaches them.
  const view = (await loadContactViews(read, workspaceId, [contact.seq], [], enteredAt)).get(contact.seq)?.view;
  if (!view) throw notFound("contact", ref);
  const entryReason = await explainNoEntry(read, automation, contact, enteredAt);
  const { timezone } = await getBrand(read, workspaceId);
  const context = { read, deps, automation, templates: await pinPublished(read, version, workspaceId), timeZone: async () => timezone };
  const journey = await travel(context, version, { contact, view, at: enteredAt, event: event ?? null }, assume);
  return {
    contactId: contact.id,
    version: definition ? null : version.version,
    mayEnter: entryReason === null,
    entryReason,
    status: journey.status,
    reason: journey.reason,
    enteredAt: iso(enteredAt),
    endedAt: iso(journey.endedAt),
    path: journey.path,
  };
}

async function travel(
  context: ForesightContext,
  { steps, connections }: VersionRow,
  start: Traveller,
  assume: Readonly<Record<string, string>>,
): Promise<Pick<DryRun, "path" | "status" | "reason"> & { endedAt: number }> {
  const path: DryRunStep[] = [];
  let traveller = start;
  let from: string = TRIGGER_STEP;
  const end = (status: DryRun["status"], reason: string | null = null) => ({ path, status, reason, endedAt: traveller.at });
  for (let branch: string | undefined; ; ) {
    const to = connections.find((c) => c.from === from && c.branch === branch)?.to;
    const step = steps.find(({ id }) => id === to);
    if (!step) return end("COMPLETED");
    if (path.length >= AUTOMATION_LIMITS.moves) return end("FAILED", "too_many_steps");
    const effect = await foreseeStep(context, traveller, step);
    const assumed = Object.hasOwn(assume, step.id);
    branch = assumed ? assume[step.id] : effect.branch;
    // An assumed event comes at once. Its data is unknown.
    const isMet = step.type === "wait_for_event" && branch === "event";
    const until = isMet ? undefined : effect.waitUntil;
    path.push({
      stepId: step.id,
      type: step.type,
      at: iso(traveller.at),
      outcome: effect.skip === undefined ? "done" : "skipped",
      reason: effect.skip ?? effect.exit ?? null,
      branch: branch ?? null,
      assumed: assumed || effect.assumed === true,
      until: until === undefined ? null : iso(until),
      email: effect.email ?? null,
    });
    traveller = { ...follow(traveller, effect), at: until ?? traveller.at, event: isMet ? null : traveller.event };
    if (effect.exit !== undefined) return end("EXITED", effect.exit);
    from = step.id;
  }
}

/** The contact as a step would leave it. */
function follow(traveller: Traveller, { contact = traveller.contact, lists = traveller.view.lists }: Foresight): Traveller {
  if (contact === traveller.contact) return { ...traveller, view: { ...traveller.view, lists } };
  const { customFields } = contact;
  const changed = { ...mapContactTexts((field) => contact[field]), tags: contact.tags.map(tagKey), customFields, updatedAt: traveller.at };
  return { ...traveller, contact, view: { ...traveller.view, ...changed, lists } };
}

/** The versions of templates that a version has pinned, or else the published ones; of unpublished ones, the drafts are shown. */
async function pinPublished(read: Reader, version: VersionRow, workspaceId: string): Promise<VersionRow["templates"]> {
  if (version.templates !== null) return version.templates;
  const templates: Record<string, number> = {};
  for (const step of version.steps) {
    if (step.type !== "send_email") continue;
    const published = await findPublishedVersion(read, workspaceId, step.templateId);
    if (published !== null) templates[step.templateId] = published;
  }
  return templates;
}

/** The published version of a template; null if it has none, or is gone. */
async function findPublishedVersion(read: Reader, workspaceId: string, templateId: string): Promise<number | null> {
  try {
    return (await getTemplateRow(read, workspaceId, templateId)).version;
  } catch (error) {
    if (error instanceof ApiError && error.code === "not_found") return null;
    throw error;
  }
}

/** Returns the reason a contact could not enter at an instant (ms), whatever the state of the automation; null if it could. */
async function explainNoEntry(read: Reader, automation: AutomationRow, contact: ContactRow, at: number): Promise<string | null> {
  const { automationContacts: t } = read.t;
  const [before] = await findRows(read, t, { automationId: automation.id, contactId: contact.id });
  if (!before) return null;
  if (before.inside) return "inside";
  if (!automation.allowReEntry) return "entered_before";
  return before.enteredAt > at - automation.reEntryDelayHours * HOUR ? "re_entry_delay" : null;
}

function assertAssumptions(steps: readonly AutomationStep[], assume: Readonly<Record<string, string>>): void {
  const details = Object.entries(assume).flatMap(([stepId, branch]): ErrorDetail[] => {
    const path = `assume.${stepId}`;
    const step = steps.find(({ id }) => id === stepId);
    if (!step) return [{ path, code: "unknown_step", message: `There is no step "${stepId}".` }];
    const branches = listBranches(step);
    if (branches?.includes(branch)) return [];
    const message = branches === null ? `The step "${stepId}" has no branches.` : `The step "${stepId}" leads to ${branches.join(", ")}.`;
    return [{ path, code: "unknown_branch", message }];
  });
  const [first] = details;
  if (first) throw new ApiError("validation_error", first.message, { details });
}
