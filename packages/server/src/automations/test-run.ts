import {
  AUTOMATION_LIMITS,
  type AutomationStep,
  CONTACT_LIMITS,
  durationMs,
  type ErrorDetail,
  type HandlerInput,
  listBranches,
  type MailsvcContract,
  mapContactTexts,
  parseMailbox,
  type TestRun,
  type TestStep,
  TRIGGER_STEP,
} from "@mailsvc/sdk/contract";
import { and, eq } from "drizzle-orm";
import { type ContactRow, findContactByEmail, getContactRow, patchContact, tagKey } from "../contacts/contacts.ts";
import type { Reader } from "../db/db.ts";
import type { Deps } from "../deps.ts";
import { getWebhookRow, isReceiving } from "../developer-webhooks/developer-webhooks.ts";
import { ApiError, notFound } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { getListRow } from "../lists/lists.ts";
import { loadContactViews, matches } from "../segments/segments.ts";
import { isVerified } from "../senders/senders.ts";
import { findSuppressed } from "../suppressions/suppressions.ts";
import { getTemplateRow } from "../templates/templates.ts";
import { getBrand } from "../workspaces/workspaces.ts";
import { assertVersion } from "./automations.ts";
import { explainNoMail, prepareMail } from "./mail.ts";
import { pickBranch } from "./steps/split.ts";
import { findMoment } from "./steps/waits.ts";
import { type AutomationRow, getAutomationRow, getVersionRow, type VersionRow } from "./store.ts";
import type { EntryEvent } from "./tables.ts";

type ContactView = Parameters<typeof matches>[0];

/** A contact as the steps so far would have left it. */
interface Traveller {
  contact: ContactRow;
  /** What conditions ask about it. */
  view: ContactView;
  /** Where in time it is, ms. */
  at: number;
  /** What templates know as `event`; null if that is not known. */
  event: EntryEvent | null;
}

/** What a step would do. */
interface Effect {
  readonly skip?: string;
  readonly branch?: string;
  readonly waitMs?: number;
  readonly email?: { readonly from: string; readonly subject: string };
  readonly exit?: string;
  /** The branch depends on something that only happens later. */
  readonly assumed?: true;
}

interface Journey {
  readonly read: Reader;
  readonly deps: Deps;
  readonly automation: AutomationRow;
  readonly version: VersionRow;
  readonly traveller: Traveller;
}

/**
 * The way that a contact would take through an automation, and what each step would do. Only reads: changes of the contact are made to
 * a copy, which later steps see. Throws ApiError not_found, or validation_error for an assumption about a branch that does not exist.
 */
export async function testRun(
  read: Reader,
  deps: Deps,
  workspaceId: string,
  { id, contact: ref, version: number, at, event, assume = {} }: HandlerInput<MailsvcContract["automations"]["test"]>,
): Promise<TestRun> {
  const automation = await getAutomationRow(read, workspaceId, id);
  assertVersion(automation, number);
  const version = await getVersionRow(read, id, number ?? automation.version);
  assertAssumptions(version.steps, assume);
  const contact = ref.includes("@") ? await findContactByEmail(read, workspaceId, ref) : await getContactRow(read, workspaceId, ref);
  const view = contact && (await loadContactViews(read, workspaceId, [contact.seq])).get(contact.seq)?.view;
  if (!contact || !view) throw notFound("contact", ref);
  const enteredAt = at === undefined ? deps.clock.now() : Date.parse(at);
  const entryReason = await explainNoEntry(read, automation, contact, enteredAt);
  const traveller: Traveller = { contact, view, at: enteredAt, event: event ?? null };
  const journey = { read, deps, automation, version: await pinPublished(read, version, workspaceId), traveller };
  const { path, status, reason } = await travel(journey, assume);
  return {
    contactId: contact.id,
    version: version.version,
    mayEnter: entryReason === null,
    entryReason,
    status,
    reason,
    enteredAt: iso(enteredAt),
    endedAt: iso(traveller.at),
    path,
  };
}

async function travel(journey: Journey, assume: Readonly<Record<string, string>>): Promise<Pick<TestRun, "path" | "status" | "reason">> {
  const { version, traveller } = journey;
  const path: TestStep[] = [];
  let from: string = TRIGGER_STEP;
  for (let branch: string | undefined; ; ) {
    const to = version.connections.find((c) => c.from === from && c.branch === branch)?.to;
    const step = version.steps.find(({ id }) => id === to);
    if (!step) return { path, status: "COMPLETED", reason: null };
    if (path.length >= AUTOMATION_LIMITS.moves) return { path, status: "FAILED", reason: "too_many_steps" };
    const effect = await imagine(step, journey);
    const assumed = Object.hasOwn(assume, step.id);
    branch = assumed ? assume[step.id] : effect.branch;
    const at = traveller.at;
    // An event that is assumed comes at once. What it says is not known.
    const isMet = step.type === "wait_for_event" && branch === "event";
    if (isMet) traveller.event = null;
    const waits = effect.waitMs !== undefined && !isMet;
    if (waits) traveller.at += effect.waitMs ?? 0;
    path.push({
      stepId: step.id,
      type: step.type,
      at: iso(at),
      outcome: effect.skip === undefined ? "done" : "skipped",
      reason: effect.skip ?? effect.exit ?? null,
      branch: branch ?? null,
      assumed: assumed || effect.assumed === true,
      until: waits ? iso(traveller.at) : null,
      email: effect.email ?? null,
    });
    if (effect.exit !== undefined) return { path, status: "EXITED", reason: effect.exit };
    from = step.id;
  }
}

/** What a step would do for the contact, to which the changes are made. It mirrors `takeStep`, and a test compares the two. */
async function imagine(step: AutomationStep, journey: Journey): Promise<Effect> {
  try {
    return await foresee(step, journey);
  } catch (error) {
    if (error instanceof ApiError) return { skip: error.code };
    throw error;
  }
}

async function foresee(step: AutomationStep, journey: Journey): Promise<Effect> {
  const { read, deps, automation, traveller } = journey;
  const { contact, view, at } = traveller;
  switch (step.type) {
    case "send_email":
      return imagineMail(step, journey);
    case "delay":
      return { waitMs: durationMs(step.for) };
    case "condition":
      return { branch: matches(view, step.rule, at) ? "yes" : "no" };
    case "split":
      return { branch: pickBranch(step, { automationId: automation.id, contactId: contact.id }) };
    case "update_contact":
      change(traveller, patchContact(deps, contact, step.set, contact.status));
      return {};
    case "add_tag":
      if (contact.tags.some((tag) => tagKey(tag) === tagKey(step.tag))) return {};
      if (contact.tags.length >= CONTACT_LIMITS.tags) return { skip: "too_many_tags" };
      change(traveller, { ...contact, tags: [...contact.tags, step.tag] });
      return {};
    case "remove_tag":
      change(traveller, { ...contact, tags: contact.tags.filter((tag) => tagKey(tag) !== tagKey(step.tag)) });
      return {};
    case "add_to_list":
    case "remove_from_list": {
      const list = await getListRow(read, automation.workspaceId, step.listId);
      const others = view.lists.filter((id) => id !== list.id);
      // A list with double opt-in asks first, and the contact is no member until it confirms.
      const joins = step.type === "add_to_list" && (!list.doubleOptIn || view.lists.includes(list.id));
      traveller.view = { ...view, lists: joins ? [...others, list.id] : others };
      return {};
    }
    // Whether the event comes cannot be known: it is assumed that it does not.
    case "wait_for_event":
      return { branch: "timeout", waitMs: durationMs(step.timeout), assumed: true };
    case "wait_until":
      return { waitMs: findMoment(step, contact, (await getBrand(read, automation.workspaceId)).timezone, at) - at };
    case "webhook":
      return explainNoWebhook(read, automation.workspaceId, step.webhookId);
    case "goal":
      return {};
    case "exit":
      return { exit: step.reason ?? "exit" };
  }
}

async function explainNoWebhook(read: Reader, workspaceId: string, webhookId: string): Promise<Effect> {
  return isReceiving(await getWebhookRow(read, workspaceId, webhookId)) ? {} : { skip: "webhook_disabled" };
}

function change(traveller: Traveller, contact: ContactRow): void {
  traveller.contact = contact;
  traveller.view = {
    ...traveller.view,
    ...mapContactTexts((field) => contact[field]),
    tags: contact.tags.map(tagKey),
    customFields: contact.customFields,
    updatedAt: traveller.at,
  };
}

async function imagineMail(
  step: AutomationStep & { type: "send_email" },
  { read, deps, automation: { workspaceId }, version, traveller: { contact, event } }: Journey,
): Promise<Effect> {
  const barred = explainNoMail(contact);
  if (barred !== null) return { skip: barred };
  const mail = await prepareMail(read, deps.compiledTemplates, contact, step, version.templates, event);
  if ("skip" in mail) return mail;
  const email = { from: mail.from, subject: mail.content.subject };
  if (!(await isVerified(read, deps, workspaceId, parseMailbox(mail.from)))) return { skip: "sender_not_verified", email };
  const suppressed = await findSuppressed(read, workspaceId, [contact.emailKey]);
  return suppressed.size > 0 ? { skip: "recipient_suppressed", email } : { email };
}

/** The version with the published versions of its templates, if it has not pinned them yet; of unpublished ones, the drafts are shown. */
async function pinPublished(read: Reader, version: VersionRow, workspaceId: string): Promise<VersionRow> {
  if (version.templates !== null) return version;
  const templates: Record<string, number> = {};
  for (const step of version.steps) {
    if (step.type !== "send_email") continue;
    const published = await findPublishedVersion(read, workspaceId, step.templateId);
    if (published !== null) templates[step.templateId] = published;
  }
  return { ...version, templates };
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

/** Why a contact could not enter at an instant (ms), whatever the state of the automation; null if it could. */
async function explainNoEntry(read: Reader, automation: AutomationRow, contact: ContactRow, at: number): Promise<string | null> {
  const { automationContacts: t } = read.t;
  const [before] = await read
    .select()
    .from(t)
    .where(and(eq(t.automationId, automation.id), eq(t.contactId, contact.id)));
  if (!before) return null;
  if (before.inside) return "inside";
  if (!automation.allowReEntry) return "entered_before";
  return before.enteredAt > at - automation.reEntryDelayHours * 3_600_000 ? "re_entry_delay" : null;
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
