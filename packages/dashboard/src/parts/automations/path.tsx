/** @jsxImportSource preact */
import type { AutomationEntry, AutomationStep, DryRun } from "@mailsvc/sdk/contract";
import { ObjectLink } from "../object-link.tsx";
import { Time } from "../time.tsx";
import { Timeline, type TimelineItem } from "../timeline.tsx";
import type { Path } from "./flow-list.tsx";
import { describeReason, describeTaken, type Names, sayStep } from "./words.ts";

/** The path of an entry, for the graph. */
export function toPath({ path, stepId }: AutomationEntry): Path {
  return { steps: path, next: stepId };
}

interface EntryProps {
  readonly entry: AutomationEntry;
  readonly steps: readonly AutomationStep[];
  readonly names: Names;
}

/** History of an entry step by step, the next step, and the reason it left. */
export function EntryTimeline({ entry, steps, names }: EntryProps) {
  const { enteredAt, path, stepId, dueAt, endedAt, goalReachedAt, status, reason } = entry;
  const items: TimelineItem[] = [
    { at: enteredAt, what: "Entered", tone: "busy" },
    ...path.map((taken) => ({
      at: taken.at,
      what: nameStep(taken.stepId, steps, names),
      tone: taken.outcome === "done" ? "good" : "warn",
      why: (
        <>
          {describeTaken(taken)}
          {taken.emailId === null ? null : (
            <>
              {describeTaken(taken) === null ? "" : " · "}
              <ObjectLink id={taken.emailId} />
            </>
          )}
        </>
      ),
    })),
    ...(goalReachedAt === null ? [] : [{ at: goalReachedAt, what: "Reached the goal", tone: "good" }]),
  ];
  // The goal may be reached between two steps.
  items.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  const ends = { COMPLETED: "Came to the end", EXITED: "Left", FAILED: "Failed" } as const;
  if (status !== "ACTIVE")
    items.push({
      at: endedAt ?? "",
      what: ends[status],
      tone: status === "FAILED" ? "bad" : "plain",
      why: reason && describeReason(reason),
    });
  else if (stepId !== null) items.push({ at: dueAt ?? "", what: `Next: ${nameStep(stepId, steps, names)}`, tone: "busy", planned: true });
  return <Timeline items={items} />;
}

function nameStep(id: string, steps: readonly AutomationStep[], names: Names): string {
  const step = steps.find((one) => one.id === id);
  return step ? sayStep(step, names) : id;
}

interface DryRunProps {
  readonly run: DryRun;
  readonly steps: readonly AutomationStep[];
  readonly names: Names;
}

/** Simulated path of a contact. */
export function DryRunTimeline({ run: { path, status, reason, mayEnter, entryReason, enteredAt, endedAt }, steps, names }: DryRunProps) {
  const ends = { COMPLETED: "Would come to the end", EXITED: "Would leave", FAILED: "Would fail" } as const;
  return (
    <>
      {mayEnter ? null : (
        <p class="note">The contact could not enter now: {describeReason(entryReason ?? "")}. This is the path all the same.</p>
      )}
      <Timeline
        items={[
          { at: enteredAt, what: "Would enter", tone: "busy" },
          ...path.map((step) => ({
            at: step.at,
            what: nameStep(step.stepId, steps, names),
            tone: step.outcome === "done" ? "good" : "warn",
            why: (
              <>
                {step.email === null ? null : (
                  <>
                    “{step.email.subject}” from {step.email.from}
                  </>
                )}
                {step.until === null ? null : (
                  <>
                    until <Time at={step.until} exactly />
                  </>
                )}
                {describeTaken(step) === null ? null : <> {describeTaken(step)}</>}
                {step.assumed ? <> (assumed)</> : null}
              </>
            ),
          })),
          { at: endedAt, what: ends[status], tone: "plain", why: reason && describeReason(reason) },
        ]}
      />
    </>
  );
}
