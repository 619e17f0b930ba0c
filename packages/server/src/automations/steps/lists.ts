import { addMembers, getListRow, removeMembers } from "../../lists/lists.ts";
import { DONE, inGroups, type StepKind, type StepResult } from "./step.ts";

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
