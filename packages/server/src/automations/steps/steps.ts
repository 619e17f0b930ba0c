import type { StepType } from "@mailsvc/sdk/contract";
import { condition } from "./condition.ts";
import { addTag, removeTag, updateContact } from "./contact.ts";
import { exit, goal } from "./ends.ts";
import { addToList, removeFromList } from "./lists.ts";
import { sendEmail } from "./send-email.ts";
import { split } from "./split.ts";
import type { EntryAt, StepContext, StepKind, StepResult } from "./step.ts";
import { delay, waitForEvent, waitUntil } from "./waits.ts";
import { webhook } from "./webhook.ts";

/** All kinds of steps. Their fields are in the contract (`automation-steps.ts`). */
const STEP_KINDS: { readonly [Type in StepType]: StepKind<Type> } = {
  send_email: sendEmail,
  delay,
  wait_until: waitUntil,
  wait_for_event: waitForEvent,
  condition,
  split,
  update_contact: updateContact,
  add_tag: addTag,
  remove_tag: removeTag,
  add_to_list: addToList,
  remove_from_list: removeFromList,
  webhook,
  goal,
  exit,
};

/** Takes steps of one type for some entries, in the transaction that moves the entries on. */
export async function runSteps(context: StepContext, entries: readonly EntryAt[]): Promise<StepResult[]> {
  const [first] = entries;
  if (!first) return [];
  // Each kind takes the steps of its own type only, which TypeScript cannot follow through the table.
  const run = STEP_KINDS[first.step.type] as (context: StepContext, entries: readonly EntryAt[]) => Promise<StepResult[]>;
  return run(context, entries);
}
