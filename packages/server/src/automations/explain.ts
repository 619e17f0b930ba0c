import type { AutomationStep, Explanation } from "@mailsvc/sdk/contract";
import { describeStep } from "@mailsvc/sdk/contract";
import type { Reader } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { notFound } from "../lib/api-error.ts";
import { buildExplanation, count, type Findings, joinSentences, type Moment, type Present, quote } from "../lib/explanation.ts";
import { type EntryRow, readPaths } from "./entries.ts";
import { type AutomationRow, findAutomationRow, getVersionRow } from "./store.ts";

/** Explains a contact's way through an automation. Throws ApiError not_found. */
export async function explainEntry(read: Reader, present: Present, workspaceId: string, id: string): Promise<Explanation> {
  const [entry] = await findRows(read, read.t.automationEntries, { id });
  const automation = entry?.workspaceId === workspaceId ? await findAutomationRow(read, entry.automationId) : null;
  if (!entry || automation === null) throw notFound("automation entry", id);
  const { steps } = await getVersionRow(read, automation.id, entry.version);
  const path = (await readPaths(read, [id])).get(id) ?? [];
  return buildExplanation(
    {
      id,
      kind: "automation_entry",
      title: `Entry of a contact into the automation ${quote(automation.name)}`,
      status: entry.status,
      moments: [
        {
          at: entry.enteredAt,
          what: entry.event === null ? "Entered" : `Entered by the event ${quote(entry.event.name)}`,
          why: `It keeps version ${entry.version} of the definition.`,
        },
        ...path.map((move) => describeMove(move, steps)),
        ...(entry.goalReachedAt === null ? [] : [{ at: entry.goalReachedAt, what: "Reached the goal of the automation" }]),
        ...(entry.endedAt === null
          ? []
          : [{ at: entry.endedAt, what: `Ended: ${entry.status}`, why: entry.reason && describeReason(entry.reason) }]),
      ],
      related: [entry.contactId, automation.id, ...path.map(({ emailId }) => emailId)],
      ...findState(entry, automation, steps, present.now),
    },
    present,
  );
}

/** A step in some words: `send_email "Welcome"`. */
function nameStep(steps: readonly AutomationStep[], id: string | null): string {
  const step = steps.find((one) => one.id === id);
  return step === undefined ? `the step ${id}` : `${step.type} (${describeStep(step)})`;
}

type Move = NonNullable<ReturnType<Awaited<ReturnType<typeof readPaths>>["get"]>>[number];

function describeMove({ at, stepId, outcome, reason, branch, emailId }: Move, steps: readonly AutomationStep[]): Moment {
  const what = `${outcome === "skipped" ? "Skipped" : "Took"} ${nameStep(steps, stepId)}${branch === null ? "" : `, branch ${quote(branch)}`}`;
  const why = joinSentences(reason && describeReason(reason), emailId === null ? null : `Its email: mailsvc why ${emailId}`);
  return { at, what, why: why === "" ? null : why };
}

const REASONS: Readonly<Record<string, string>> = {
  contact_deleted: "The contact was deleted.",
  too_many_steps: "It took more steps than an entry may: the automation leads in a circle.",
  error: "The step failed again and again for a reason inside the server.",
  unsubscribed: "The contact had unsubscribed.",
  bounced: "An earlier email to the contact had bounced.",
  complained: "The contact had reported mail as spam.",
  recipient_suppressed: "The address was suppressed.",
  webhook_disabled: "The webhook was disabled.",
  not_found: "What the step names no longer existed.",
  exit: "A step ended it.",
};

/** A reason in words; a text of the automation's own as it is. */
function describeReason(reason: string): string {
  return REASONS[reason] ?? `Reason: ${quote(reason)}.`;
}

function findState(
  entry: EntryRow,
  automation: AutomationRow,
  steps: readonly AutomationStep[],
  now: number,
): Pick<Findings, "summary" | "next" | "actions"> {
  if (entry.status !== "ACTIVE")
    return {
      summary: joinSentences(
        entry.status === "COMPLETED"
          ? "It went through all its steps."
          : entry.status === "EXITED"
            ? "It left before the end."
            : "It failed.",
        entry.reason && describeReason(entry.reason),
      ),
    };
  const failing =
    entry.failures > 0
      ? `The next step has failed ${count(entry.failures, "time")} for a reason inside the server and is tried again.`
      : null;
  const next = nameStep(steps, entry.stepId);
  if (automation.status !== "ACTIVE")
    return {
      summary: `It stands still, because the automation is ${automation.status.toLowerCase()}. Its next step is ${next}.`,
      next: { at: null, what: "It goes on when the automation is active again; waits that ended meanwhile are over." },
      actions: [{ what: "Activate the automation", command: `mailsvc automations activate ${automation.id}` }],
    };
  const waits = entry.waitingIn === null ? null : `It waits in ${nameStep(steps, entry.waitingIn)}.`;
  const due = entry.dueAt !== null && entry.dueAt > now;
  return {
    summary: joinSentences(waits ?? "It is under way.", failing),
    next: {
      at: entry.dueAt,
      what: joinSentences(
        entry.stepId === null
          ? "It ends."
          : entry.stepId === entry.waitingIn
            ? "The wait ends, if what it waits for has not happened before."
            : `It goes on to ${next}.`,
        due ? null : "Its turn has come.",
      ),
    },
    actions: [{ what: "See all entries", command: `mailsvc automations entries ${automation.id}` }],
  };
}
