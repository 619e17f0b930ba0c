import { createHash } from "node:crypto";
import { type AutomationStep, CONTACT_LIMITS, durationMs } from "@mailsvc/sdk/contract";
import { type ContactRow, tagKey, upsertContact } from "../contacts/contacts.ts";
import type { Tx } from "../db/db.ts";
import type { Deps } from "../deps.ts";
import { ApiError } from "../lib/api-error.ts";
import { addMembers, removeMembers } from "../lists/members.ts";
import { loadContactViews, matches } from "../segments/segments.ts";
import { type EntryRow, reachGoal } from "./entries.ts";
import { type PreparedMail, sendMail } from "./mail.ts";

/** What a step did. */
export interface StepResult {
  readonly outcome: "done" | "skipped";
  /** Why it was skipped. */
  readonly reason?: string;
  /** The branch that the entry takes. */
  readonly branch?: string;
  readonly emailId?: string;
  /** How long the entry waits before the next step, ms. */
  readonly waitMs?: number;
  /** True if the entry ends here. */
  readonly exit?: boolean;
}

interface StepContext {
  readonly tx: Tx;
  readonly deps: Deps;
  readonly entry: EntryRow;
  readonly contact: ContactRow;
  /** The mail of a send_email step, rendered before the transaction. */
  readonly mail: PreparedMail | null;
}

const DONE: StepResult = { outcome: "done" };

/**
 * Takes one step for an entry, in the transaction that moves the entry on. What cannot be done, because a list or template is gone or
 * the contact must not get mail, is skipped with the reason.
 */
export async function takeStep(step: AutomationStep, context: StepContext): Promise<StepResult> {
  try {
    return await perform(step, context);
  } catch (error) {
    if (error instanceof ApiError) return { outcome: "skipped", reason: error.code };
    throw error;
  }
}

async function perform(step: AutomationStep, { tx, deps, entry, contact, mail }: StepContext): Promise<StepResult> {
  const { workspaceId } = entry;
  switch (step.type) {
    case "send_email":
      return sendMail(tx, deps, contact, mail);
    case "delay":
      return { outcome: "done", waitMs: durationMs(step.for) };
    case "condition": {
      const view = (await loadContactViews(tx, workspaceId, [contact.seq])).get(contact.seq)?.view;
      return { outcome: "done", branch: view && matches(view, step.rule, deps.clock.now()) ? "yes" : "no" };
    }
    case "split":
      return { outcome: "done", branch: pickBranch(step, entry) };
    case "update_contact":
      await upsertContact(tx, deps, workspaceId, { email: contact.email, ...step.set }, "automation");
      return DONE;
    case "add_tag":
      if (contact.tags.some((tag) => tagKey(tag) === tagKey(step.tag))) return DONE;
      if (contact.tags.length >= CONTACT_LIMITS.tags) return { outcome: "skipped", reason: "too_many_tags" };
      await upsertContact(tx, deps, workspaceId, { email: contact.email, tags: [...contact.tags, step.tag] }, "automation");
      return DONE;
    case "remove_tag": {
      const tags = contact.tags.filter((tag) => tagKey(tag) !== tagKey(step.tag));
      await upsertContact(tx, deps, workspaceId, { email: contact.email, tags }, "automation");
      return DONE;
    }
    case "add_to_list": {
      const { failed } = await addMembers(tx, deps, workspaceId, step.listId, [contact.id]);
      return failed[0] ? { outcome: "skipped", reason: failed[0].code } : DONE;
    }
    case "remove_from_list":
      await removeMembers(tx, deps, workspaceId, step.listId, [contact.id]);
      return DONE;
    case "wait_until":
    case "wait_for_event":
    case "webhook":
      return { outcome: "skipped", reason: "not_available" };
    case "goal":
      await reachGoal(tx, deps, [entry]);
      return DONE;
    case "exit":
      return { outcome: "done", reason: step.reason ?? "exit", exit: true };
  }
}

/** The branch of a split. The same contact always takes the same one, and the weights hold among all contacts. */
export function pickBranch(
  { id, branches }: AutomationStep & { type: "split" },
  { automationId, contactId }: Pick<EntryRow, "automationId" | "contactId">,
): string {
  const hash = createHash("sha256").update(`${automationId} ${id} ${contactId}`).digest().readUInt32BE(0);
  const total = branches.reduce((sum, { weight }) => sum + weight, 0);
  let left = (hash / 2 ** 32) * total;
  for (const { name, weight } of branches) {
    left -= weight;
    if (left < 0) return name;
  }
  return (branches.at(-1) as { name: string }).name;
}
