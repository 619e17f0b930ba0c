import { CONTACT_LIMITS, type ContactPatch, type StepType } from "@mailsvc/sdk/contract";
import { type ContactRow, patchContact, patchContacts, tagKey } from "../../contacts/contacts.ts";
import { ApiError } from "../../lib/api-error.ts";
import { DONE, type StepKind, type StepOf, type StepResult } from "./step.ts";

export const updateContact = change<"update_contact">((_contact, step) => step.set);

export const addTag = change<"add_tag">((contact, { tag }) => {
  if (hasTag(contact, tag)) return null;
  return contact.tags.length >= CONTACT_LIMITS.tags ? "too_many_tags" : { tags: [...contact.tags, tag] };
});

export const removeTag = change<"remove_tag">((contact, { tag }) =>
  hasTag(contact, tag) ? { tags: contact.tags.filter((one) => tagKey(one) !== tagKey(tag)) } : null,
);

function hasTag({ tags }: ContactRow, wanted: string): boolean {
  return tags.some((tag) => tagKey(tag) === tagKey(wanted));
}

/** A step that changes its contact: `toPatch` returns what to set, null for nothing to do, or why it cannot be done. */
function change<Type extends StepType>(
  toPatch: (contact: ContactRow, step: StepOf<Type>) => Omit<ContactPatch, "status"> | string | null,
): StepKind<Type> {
  return {
    perform: async ({ tx, deps, automation }, entries) => {
      const patches = entries.map(({ contact, step }) => toPatch(contact, step));
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
    },
    foresee: async ({ deps }, { contact }, step) => {
      const patch = toPatch(contact, step);
      if (typeof patch === "string") return { skip: patch };
      return patch === null ? {} : { contact: patchContact(deps, contact, patch, contact.status) };
    },
  };
}
