import { addMembers, removeMembers } from "../../lists/members.ts";
import { DONE, inGroups, type StepKind, type StepResult } from "./step.ts";

export const addToList: StepKind<"add_to_list"> = ({ tx, deps, automation }, entries) =>
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
  );

/** A contact that is not on the list stays so, which is what the step wants. */
export const removeFromList: StepKind<"remove_from_list"> = ({ tx, deps, automation }, entries) =>
  inGroups(
    entries,
    ({ step }) => step.listId,
    async (group) => {
      const ids = group.map(({ contact }) => contact.id);
      await removeMembers(tx, deps, automation.workspaceId, group[0].step.listId, ids);
      return group.map(() => DONE);
    },
  );
