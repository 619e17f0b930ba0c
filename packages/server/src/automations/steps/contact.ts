import { CONTACT_LIMITS, type ContactPatch } from "@mailsvc/sdk/contract";
import { type ContactRow, patchContacts, tagKey } from "../../contacts/contacts.ts";
import { ApiError } from "../../lib/api-error.ts";
import { DONE, type EntryAt, type StepContext, type StepKind, type StepResult } from "./step.ts";

export const updateContact: StepKind<"update_contact"> = (context, entries) => change(context, entries, ({ step }) => step.set);

export const addTag: StepKind<"add_tag"> = (context, entries) =>
  change(context, entries, ({ contact, step }) => {
    if (hasTag(contact, step.tag)) return null;
    return contact.tags.length >= CONTACT_LIMITS.tags ? "too_many_tags" : { tags: [...contact.tags, step.tag] };
  });

export const removeTag: StepKind<"remove_tag"> = (context, entries) =>
  change(context, entries, ({ contact, step }) =>
    hasTag(contact, step.tag) ? { tags: contact.tags.filter((tag) => tagKey(tag) !== tagKey(step.tag)) } : null,
  );

function hasTag({ tags }: ContactRow, wanted: string): boolean {
  return tags.some((tag) => tagKey(tag) === tagKey(wanted));
}

/** Changes contacts: `toPatch` returns what to set, null for nothing to do, or why it cannot be done. */
async function change<Step>(
  { tx, deps, automation }: StepContext,
  entries: readonly EntryAt<Step>[],
  toPatch: (at: EntryAt<Step>) => Omit<ContactPatch, "status"> | string | null,
): Promise<StepResult[]> {
  const patches = entries.map(toPatch);
  const asked = entries.flatMap(({ contact }, i) => {
    const patch = patches[i];
    return typeof patch === "object" && patch !== null ? [{ contact, patch }] : [];
  });
  const changed = await patchContacts(tx, deps, automation.workspaceId, asked, "automation");
  return entries.map(({ contact }, i): StepResult => {
    const patch = patches[i];
    if (typeof patch === "string") return { outcome: "skipped", reason: patch };
    const after = changed.get(contact.seq);
    if (after instanceof ApiError) return { outcome: "skipped", reason: after.code };
    return after ? { outcome: "done", contact: after } : DONE;
  });
}
