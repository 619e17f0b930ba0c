import type { AutomationStep, StepType } from "@mailsvc/sdk/contract";
import { ApiError } from "../../lib/api-error.ts";
import { addTag, addToList, removeFromList, removeTag, updateContact } from "./contact.ts";
import { condition, exit, goal, split } from "./paths.ts";
import { sendEmail } from "./send-email.ts";
import type { EntryAt, Foresight, ForesightContext, StepContext, StepKind, StepResult, Traveller } from "./step.ts";
import { delay, waitForEvent, waitUntil } from "./waits.ts";
import { webhook } from "./webhook.ts";

/** All kinds of steps. Their fields, words and branches are in the contract (`automation-steps.ts`). */
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
  return kindOf(first.step).perform(context, entries);
}

/** Predicts a step for a contact. */
export async function foreseeStep(context: ForesightContext, traveller: Traveller, step: AutomationStep): Promise<Foresight> {
  try {
    return await kindOf(step).foresee(context, traveller, step);
  } catch (error) {
    if (error instanceof ApiError) return { skip: error.code };
    throw error;
  }
}

/** A kind that is given steps of its own type only, which TypeScript cannot follow through the table. */
interface AnyKind {
  perform(context: StepContext, entries: readonly EntryAt[]): Promise<StepResult[]>;
  foresee(context: ForesightContext, traveller: Traveller, step: AutomationStep): Promise<Foresight>;
}

function kindOf({ type }: AutomationStep): AnyKind {
  return STEP_KINDS[type] as AnyKind;
}
