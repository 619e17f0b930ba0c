import type { Activity } from "./activity.ts";
import type { Answer, Answers } from "./answers.ts";
import type { AgentClient } from "./client.ts";
import type { CreditTransaction, Message } from "./contract.generated.ts";
import { UsageError } from "./errors.ts";
import type { HandledEvents } from "./event.ts";
import type { Heartbeat } from "./heartbeat.ts";
import { assertJson } from "./json.ts";
import type { LogEntry, Mark, Report, Reports } from "./reports.ts";
import type {
  ApprovalAnswer,
  ApprovalRequest,
  CampaignProposal,
  CreditsRequest,
  Run,
  TemplateProposal,
  WakeupAnswer,
  WakeupRequest,
} from "./run.ts";
import type { RunState } from "./run-state.ts";
import type { AgentClock } from "./runtime.ts";
import { labelOf, type Step, type StepId, type StepKind, type Steps } from "./steps.ts";
import type { Store } from "./stores/store.ts";
import type { Telemetry } from "./telemetry.ts";
import type { WorkLimits } from "./work-limits.ts";

export interface RunDeps {
  readonly client: AgentClient;
  /** A client whose calls are performed by a function, which sees that the work does something. */
  readonly observedClient: (around: <T>(call: () => Promise<T>) => Promise<T>) => AgentClient;
  readonly store: Store;
  readonly clock: AgentClock;
  readonly answers: Answers;
  readonly telemetry: Telemetry;
  /** Retention of step results, ms. */
  readonly keepMs: number;
  /** Makes the run known, so that events can end it; returns how to undo that. */
  readonly register: (abort: (reason: Error) => void) => () => void;
}

interface ActiveRunParts {
  readonly deps: RunDeps;
  readonly runId: string;
  readonly steps: Steps;
  readonly state: RunState;
  readonly activity: Activity;
  readonly heartbeat: Heartbeat;
  readonly reports: Reports;
  readonly limits: WorkLimits;
  readonly signal: AbortSignal;
}

/** A run whose work goes on in this process. */
export class ActiveRun implements Run {
  readonly id: string;
  readonly activationId: string;
  readonly client: AgentClient;
  readonly signal: AbortSignal;
  readonly #parts: ActiveRunParts;
  readonly #workedMs: () => number;
  /** Steps that have begun and not ended. */
  readonly #open = new Set<Promise<unknown>>();

  constructor(parts: ActiveRunParts) {
    const { deps, runId, limits, activity, signal } = parts;
    this.id = runId;
    this.activationId = deps.client.activationId;
    this.client = deps.observedClient((call) => {
      limits.touch();
      return activity.call(call);
    });
    this.signal = signal;
    this.#parts = parts;
    this.#workedMs = () => limits.workedMs;
    // They reject now. Work that hangs elsewhere will not look at them, and that must not end the process.
    signal.addEventListener("abort", () => {
      for (const promise of this.#open) promise.catch(() => {});
    });
  }

  get lastCheckpoint(): unknown {
    const { value, unconfirmed } = this.#parts.state.readCheckpoint();
    for (const report of unconfirmed) this.#send(report);
    return value;
  }

  log(message: string, { level = "info", data }: { level?: LogEntry["level"]; data?: unknown } = {}): void {
    assertJson(data, "The data of the log entry");
    const at = new Date(this.#parts.deps.clock.now()).toISOString();
    this.#send({ mark: this.#mark("log"), entry: { level, message, data, at } });
  }

  progress(percent: number, label?: string): void {
    this.#send({ mark: this.#mark("progress"), progress: { percent, label } });
  }

  async checkpoint(value: unknown): Promise<void> {
    const { activity, state, reports } = this.#parts;
    assertJson(value, "The checkpoint");
    this.#send({ mark: this.#mark("checkpoint"), checkpoint: value });
    await activity.call(() => state.setCheckpoint(value, reports.listUnconfirmed(""), this.#workedMs()));
  }

  step<T>(name: string, work: (step: Step) => Promise<T>): Promise<T> {
    return this.#named("step", name, (id) => this.#once(id, work));
  }

  credits(name: string, spending: CreditsRequest): Promise<CreditTransaction> {
    return this.#named("credits", name, (id) =>
      this.#once(id, ({ idempotencyKey }) =>
        this.client.credits.consume({ action: name, ...spending, runId: this.id }, { signal: this.signal, idempotencyKey }),
      ),
    );
  }

  approval<const Id extends string = "approve" | "reject">(
    name: string,
    { text, format, options, ...approval }: ApprovalRequest<Id>,
  ): Promise<ApprovalAnswer<Id>> {
    return this.#named("approval", name, (id) =>
      this.#once(id, async () => {
        const message = await this.#once({ ...id, kind: "approval-request" }, async ({ idempotencyKey: externalId }) => {
          // Entries that are logged before the question are read before it.
          await this.#parts.heartbeat.flush();
          return this.client.messages.create(
            {
              type: "APPROVAL_REQUEST",
              text,
              format,
              runId: this.id,
              externalId,
              approval: { ...approval, options: options?.map((option) => ({ ...option })) },
            },
            { signal: this.signal, onStatus: this.#onStatus },
          );
        });
        const { decision, comment } = decisionOf(message) ?? (await this.#answerTo<HandledEvents["approval_response"]>(message.id));
        return { decision: decision as ApprovalAnswer<Id>["decision"], approved: decision === "approved", comment, messageId: message.id };
      }),
    );
  }

  proposeCampaign(name: string, { campaign, title = campaign.name, ...question }: CampaignProposal): Promise<ApprovalAnswer> {
    return this.approval(name, { title, ...question, proposal: { kind: "campaign", ...campaign } });
  }

  proposeTemplate(name: string, { template, title = template.name, ...question }: TemplateProposal): Promise<ApprovalAnswer> {
    return this.approval(name, { title, ...question, proposal: { kind: "template", ...template } });
  }

  wakeup<P = null>(name: string, when: WakeupRequest<P>): Promise<WakeupAnswer<P>> {
    return this.#named("wakeup", name, (id) =>
      this.#once(id, async () => {
        if (when.delaySeconds === undefined && when.runAt === undefined)
          throw new UsageError(`The wakeup ${name} needs delaySeconds or runAt.`);
        const { wakeupId } = await this.#once({ ...id, kind: "wakeup-request" }, async ({ idempotencyKey: dedupeKey }) => {
          await this.#parts.heartbeat.flush();
          return this.client.wakeups.create(
            { reason: name, ...when, runId: this.id, dedupeKey, suspendRun: true },
            { signal: this.signal, onStatus: this.#onStatus },
          );
        });
        return this.#answerTo<WakeupAnswer<P>>(wakeupId);
      }),
    );
  }

  /** The place and number of what is reported now. Throws when the run is over. */
  #mark(kind: "log" | "progress" | "checkpoint"): Mark {
    this.#touch();
    return this.#parts.state.count(`${this.#parts.activity.path}|${kind}`);
  }

  /** Reports what no pass has reported yet. */
  #send(report: Report): void {
    if (this.#parts.state.claim(report.mark)) this.#parts.heartbeat.report(report);
  }

  #touch(): void {
    this.signal.throwIfAborted();
    this.#parts.limits.touch();
    this.#parts.activity.touch();
  }

  #named<T>(kind: StepKind, name: string, work: (id: StepId) => Promise<T>): Promise<T> {
    const promise = this.#perform(kind, name, work);
    this.#open.add(promise);
    const close = (): void => void this.#open.delete(promise);
    promise.then(close, close);
    return promise;
  }

  async #perform<T>(kind: StepKind, name: string, work: (id: StepId) => Promise<T>): Promise<T> {
    this.#touch();
    const { steps, activity } = this.#parts;
    const result = await steps.named(kind, name, activity.path, (id) => activity.inside(labelOf({ ...id, inside: "" }), () => work(id)));
    this.#touch();
    return result;
  }

  async #once<T>(id: StepId, work: (step: Step) => Promise<T>): Promise<T> {
    const { steps, state, limits, reports, deps } = this.#parts;
    const attributes = { activationId: this.activationId, runId: this.id, kind: id.kind, step: id.name };
    const inside = `${labelOf(id)}>`;
    const look = () => ({ workedMs: limits.workedMs, unconfirmed: reports.listUnconfirmed(inside) });
    const done = await steps.once(id, look, (step) => deps.telemetry({ name: "step", attributes }, () => work(step)));
    limits.atLeast(done.workedMs);
    // An earlier pass made these, and may have been killed before they arrived.
    for (const report of done.unconfirmed) this.#send(report);
    if (done.unconfirmed.length === 0) state.forget(inside);
    return done.value;
  }

  /** The service suspends a run when a request is new, not when a repeat finds it. */
  readonly #onStatus = (status: number): void => {
    if (status === 201) this.#parts.heartbeat.wait();
  };

  async #answerTo<A extends Answer>(id: string): Promise<A> {
    const { deps, activity, heartbeat } = this.#parts;
    const answer = (await activity.wait(id, () => deps.answers.wait(id, this.signal))) as A;
    heartbeat.resume();
    return answer;
  }
}

/** The answer a message already has, when the request is repeated after a crash. */
function decisionOf({ approval }: Message): { decision: string; comment: string | null } | null {
  if (!approval || approval.status === "PENDING" || approval.decision === null) return null;
  return { decision: approval.decision, comment: approval.comment };
}
