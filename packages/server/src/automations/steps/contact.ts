import { CONTACT_LIMITS, type ContactPatch, type StepType } from "@mailsvc/sdk/contract";
import { type ContactRow, patchContact, patchContacts, tagKey } from "../../contacts/contacts.ts";
import { ApiError } from "../../lib/api-error.ts";
import { addMembers, getListRow, removeMembers } from "../../lists/lists.ts";
import { DONE, inGroups, type StepKind, type StepOf, type StepResult } from "./step.ts";

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

export const addToList: StepKind<"add_to_list"> = {
  perform: ({ tx, deps, automation }, entries) =>
    inGroups(
      entries,
      ({ step }) => step.listId,
      async (group) => {
        const ids = group.map(({ contact }) => contact.id);
        const { failed } = await addMembers(tx, deps, automation.workspaceId, group[0].step.listId, ids);
        const reasons = new Map(failed.map(({ index, code }) => [index, code]));
        return group.map((_, i): StepResult => {
          const reason = reasons.get(i);
          return reason === undefined ? DONE : { outcome: "skipped", reason };
        });
      },
    ),
  foresee: async ({ read, automation }, { view: { lists } }, step) => {
    const list = await getListRow(read, automation.workspaceId, step.listId);
    // A list with double opt-in asks first, and the contact is no member until it confirms.
    return list.doubleOptIn || lists.includes(list.id) ? {} : { lists: [...lists, list.id] };
  },
};

/** A contact that is not on the list stays so, which is what the step wants. */
export const removeFromList: StepKind<"remove_from_list"> = {
  perform: ({ tx, deps, automation }, entries) =>
    inGroups(
      entries,
      ({ step }) => step.listId,
      async (group) => {
        const ids = group.map(({ contact }) => contact.id);
        await removeMembers(tx, deps, automation.workspaceId, group[0].step.listId, ids);
        return group.map(() => DONE);
      },
    ),
  foresee: async ({ read, automation }, { view: { lists } }, step) => {
    const list = await getListRow(read, automation.workspaceId, step.listId);
    return { lists: lists.filter((id) => id !== list.id) };
  },
};
