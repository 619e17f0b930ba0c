import type { AgentClient } from "./client.ts";
import type { AgentApi, CreditTransaction } from "./contract.generated.ts";
import type { HandledEvents } from "./event.ts";
import type { Json } from "./json.ts";
import type { LogEntry } from "./reports.ts";
import type { Step } from "./steps.ts";

type StartInput = NonNullable<Parameters<AgentApi<never>["runs"]["start"]>[0]>;
type CompleteInput = Parameters<AgentApi<never>["runs"]["complete"]>[0];
type Approval = NonNullable<Parameters<AgentApi<never>["messages"]["create"]>[0]["approval"]>;
type Option = NonNullable<Approval["options"]>[number];
type Spending = Parameters<AgentApi<never>["credits"]["consume"]>[0];
type Scheduling = Parameters<AgentApi<never>["wakeups"]["create"]>[0];

/** The options of a new run. */
export type RunOptions = Pick<StartInput, "title" | "trigger" | "metadata" | "parentRunId"> & {
  /** Your own id. By default made of the event and the number of the run in its handler, so that a repeat continues the same run. */
  id?: string;
  /** The run fails when it has worked for this many milliseconds; waiting for approvals and wakeups does not count. Default: no limit. */
  maxDurationMs?: number;
  /**
   * The run fails when its work gives no sign for this many milliseconds: no step, log, progress, checkpoint or call. Waiting for approvals
   * and wakeups does not count. Default: one hour; Infinity for no limit.
   */
  maxSilenceMs?: number;
};

/** Result that the work of a run may return; it is stored with the run. */
export type RunOutcome = Pick<CompleteInput, "summary" | "output" | "metrics">;

/** The fields of an outcome, and no others, so that a misspelt one does not compile; or nothing. */
export type ExactOutcome<R> = R extends void ? R : { readonly [K in keyof R]: K extends keyof RunOutcome ? RunOutcome[K] : never };

/** A completed run. */
export interface RunResult {
  readonly runId: string;
  readonly summary: string | null;
  readonly output: unknown;
}

/** A request for approval: the question, and `text`, the message it is asked in. */
export type ApprovalRequest<Id extends string = "approve" | "reject"> = Omit<Approval, "suspendRun" | "options"> & {
  text: string;
  format?: "plain" | "markdown";
  /** Options of the brand. Default: `approve` and `reject`. */
  options?: readonly (Omit<Option, "id"> & { id: Id })[];
};

type Proposal = NonNullable<Approval["proposal"]>;

/** The question with which something is proposed. `text` says why; the title is its name by default. */
type ProposalQuestion = Omit<ApprovalRequest, "proposal" | "preview" | "options" | "title"> & { title?: string };

/** A campaign to propose. The brand chooses the sender, and decides if it is sent. */
export type CampaignProposal = ProposalQuestion & { campaign: Omit<Extract<Proposal, { kind: "campaign" }>, "kind"> };

/** A template to propose. */
export type TemplateProposal = ProposalQuestion & { template: Omit<Extract<Proposal, { kind: "template" }>, "kind"> };

/** Spending of credits. `action` is the name of the step by default. */
export type CreditsRequest = Omit<Spending, "runId" | "action"> & { action?: string };

/** Due time of a wakeup. `reason` is the name of the step by default. */
export type WakeupRequest<P = unknown> = Omit<Scheduling, "runId" | "dedupeKey" | "suspendRun" | "reason" | "payload"> & {
  reason?: string;
  payload?: P & Json<P>;
};

/** The event of a wakeup, with the payload it was scheduled with; null without one. */
export type WakeupAnswer<P> = Omit<HandledEvents["agent.wakeup"], "payload"> & { readonly payload: P };

/** The decisions that options allow: `approve` and `reject` are answered as `approved` and `rejected`, others by their ids. */
type DecisionOf<Id extends string> =
  | "expired"
  | { approve: "approved"; reject: "rejected" }[Id & ("approve" | "reject")]
  | Exclude<Id, "approve" | "reject">;

/** The answer of the brand. */
export interface ApprovalAnswer<Id extends string = "approve" | "reject"> {
  /** `approved`, `rejected`, `expired`, or the id of the chosen option. */
  readonly decision: DecisionOf<Id>;
  readonly approved: boolean;
  readonly comment: string | null;
  readonly messageId: string;
}

/**
 * A run while its work goes on. Heartbeats are sent by themselves. Everything with a name happens once in a run, also when a crash
 * repeats the work: the second time it returns the stored result.
 *
 * An approval or a wakeup holds nothing: once the work can only wait, its event is laid aside, and the handlers begin again with the answer. So
 * what they do outside of steps is done again, and what goes on beside a wait is a step too.
 *
 * Steps, approvals, credits and wakeups have a name space each. A name that is used again is another one: in a loop, the second use of `list`
 * is stored as `list#2`. So the order of equal names must be the same when the work is repeated; what happens at the same time needs names of
 * its own, and is a UsageError without.
 */
export interface Run<Checkpoint = unknown> {
  readonly id: string;
  readonly activationId: string;
  readonly client: AgentClient;
  /**
   * Aborted when the work must stop; the reason is an AgentPausedError, AgentDeactivatedError, RunWaitingError, RunEndedError,
   * WorkLimitError or AgentStoppedError. Every method of the run then throws this reason too.
   */
  readonly signal: AbortSignal;
  /**
   * Adds to the log of the run. Entries are sent together, within two seconds. A repetition of the work adds those that are not there yet:
   * the third entry of the work, or of a step, stays the third.
   */
  log(message: string, details?: { level?: LogEntry["level"]; data?: unknown }): void;
  /** Reports the progress, 0 to 100. */
  progress(percent: number, label?: string): void;
  /**
   * Stores what the work needs to continue; `lastCheckpoint` has it after a crash, and is null before the first one. Work that looks at it goes
   * on from there, and so do its log and progress.
   */
  checkpoint<T extends Checkpoint>(value: T & Json<T>): Promise<void>;
  readonly lastCheckpoint: Checkpoint | null;
  /**
   * Does a part of the work once and remembers its result. A step may contain others: their names count inside of it. Throws UsageError for a result that JSON cannot carry, such as a Map or a Date.
   */
  step<T>(name: string, work: (step: Step) => Promise<T & Json<T>>): Promise<T>;
  /** Asks the brand. The run goes on with the answer, after days if it must be, also over a restart. */
  approval<const Id extends string = "approve" | "reject">(name: string, request: ApprovalRequest<Id>): Promise<ApprovalAnswer<Id>>;
  /**
   * Proposes a campaign. A person sees the mail, its lists and how many people it reaches, and makes it a draft, sends it or rejects it; you
   * learn the decision. A question with other content needs another name.
   */
  proposeCampaign(name: string, proposal: CampaignProposal): Promise<ApprovalAnswer>;
  /** Proposes a template, which becomes a draft when a person approves it. */
  proposeTemplate(name: string, proposal: TemplateProposal): Promise<ApprovalAnswer>;
  /** Spends credits. */
  credits(name: string, spending: CreditsRequest): Promise<CreditTransaction>;
  /** Sleeps until a wakeup of the service, also over a restart. Returns its event. */
  wakeup<P = null>(name: string, when: WakeupRequest<P>): Promise<WakeupAnswer<P>>;
}
