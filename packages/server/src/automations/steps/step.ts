import type { AutomationStep, StepType } from "@mailsvc/sdk/contract";
import type { ContactRow } from "../../contacts/contacts.ts";
import type { Reader, Tx } from "../../db/db.ts";
import type { HeldContact } from "../../db/held.ts";
import { ApiError } from "../../lib/api-error.ts";
import type { matches } from "../../segments/segments.ts";
import type { AutomationDeps } from "../automations.ts";
import type { EntryRow } from "../entries.ts";
import type { Plan } from "../plan.ts";
import type { AutomationRow, VersionRow } from "../store.ts";
import type { EntryEvent } from "../tables.ts";

type ContactView = Parameters<typeof matches>[0];

/** Result of a step. */
export interface StepResult {
  readonly outcome: "done" | "skipped";
  /** Reason it was skipped, or the entry ends. */
  readonly reason?: string;
  /** The branch that the entry takes. */
  readonly branch?: string;
  readonly emailId?: string;
  /** Time at which the entry goes on with the next step, ms; at once when absent or over. */
  readonly waitUntil?: number;
  /** The entry stays at the step until something happens, as `toKey` writes it, or until an instant (ms). */
  readonly stay?: { readonly event: string; readonly until: number };
  /** True if the entry ends here. */
  readonly exit?: boolean;
  /** The contact, if the step changed it. */
  readonly contact?: ContactRow;
}

/** Context shared by the steps of a batch. */
export interface StepContext {
  readonly tx: Tx;
  readonly deps: AutomationDeps;
  readonly automation: AutomationRow;
  /** Ms. */
  readonly now: number;
  /** The time zone of the workspace. */
  timeZone(): Promise<string>;
}

/** The step of a type. */
export type StepOf<Type extends StepType> = Extract<AutomationStep, { type: Type }>;

/** An entry at a step. */
export interface EntryAt<Step = AutomationStep> {
  readonly entry: EntryRow;
  /** Held by the entry, which this transaction has locked and moves on: the deletion of the contact would end it. */
  readonly contact: ContactRow & HeldContact;
  readonly step: Step;
  readonly templates: Plan["templates"];
}

/** Context shared by the steps of a dry run. */
export interface ForesightContext {
  readonly read: Reader;
  readonly deps: AutomationDeps;
  readonly automation: AutomationRow;
  /** The pinned versions of its templates. */
  readonly templates: VersionRow["templates"];
  /** The time zone of the workspace. */
  timeZone(): Promise<string>;
}

/** A contact in a dry run, as the steps so far would have left it. */
export interface Traveller {
  readonly contact: ContactRow;
  /** Its view for conditions. */
  readonly view: ContactView;
  /** The instant it has reached, ms. */
  readonly at: number;
  /** The `event` variable of templates; null if it is not known. */
  readonly event: EntryEvent | null;
}

/** Expected result of a step. */
export interface Foresight {
  /** Reason it would be skipped. */
  readonly skip?: string;
  /** Reason the entry would end here. */
  readonly exit?: string;
  readonly branch?: string;
  /** The branch depends on something that only happens later. */
  readonly assumed?: true;
  /** Time at which the entry would go on, ms. */
  readonly waitUntil?: number;
  readonly email?: { readonly from: string; readonly subject: string };
  /** The contact as the step would leave it. */
  readonly contact?: ContactRow;
  /** The ids of the lists that the contact would be on. */
  readonly lists?: readonly string[];
}

/** Functions that perform and predict steps of one kind. */
export interface StepKind<Type extends StepType> {
  /**
   * Entries take the step, all of them at once, in the transaction that moves them on. Returns a result for each, in their order. A step
   * that cannot be done, because a list is gone or the contact must not get mail, is skipped with the reason.
   */
  perform(context: StepContext, entries: readonly EntryAt<StepOf<Type>>[]): Promise<StepResult[]>;
  /** Predicts the step for one contact. Only reads. An ApiError means that the step would be skipped, with its code as the reason. */
  foresee(context: ForesightContext, traveller: Traveller, step: StepOf<Type>): Promise<Foresight>;
}

export const DONE: StepResult = { outcome: "done" };

/** The result of a step that cannot be done. Throws what is no ApiError: that is a fault of ours. */
function skip(error: unknown): StepResult {
  if (error instanceof ApiError) return { outcome: "skipped", reason: error.code };
  throw error;
}

/** Splits entries into those that agree in a key, runs each group, and puts the results back in order. An ApiError skips its group. */
export async function inGroups<At extends EntryAt<unknown>>(
  entries: readonly At[],
  keyOf: (at: At) => string,
  run: (group: readonly [At, ...At[]]) => Promise<StepResult[]>,
): Promise<StepResult[]> {
  const results = new Map<At, StepResult>();
  for (const group of Map.groupBy(entries, keyOf).values()) {
    let own: StepResult[];
    try {
      own = await run(group as [At, ...At[]]);
    } catch (error) {
      own = group.map(() => skip(error));
    }
    for (const [i, at] of group.entries()) results.set(at, own[i] as StepResult);
  }
  return entries.map((at) => results.get(at) as StepResult);
}
