import type { Answer, Answers } from "./answers.ts";
import type { AgentClient } from "./client.ts";
import type { CreditTransaction, Message } from "./contract.generated.ts";
import { UsageError } from "./errors.ts";
import type { HandledEvents } from "./event.ts";
import type { Heartbeat, LogEntry } from "./heartbeat.ts";
import { assertJson } from "./json.ts";
import type { ApprovalAnswer, ApprovalRequest, CreditsRequest, Run, WakeupRequest } from "./run.ts";
import type { AgentClock } from "./runtime.ts";
import type { Slot } from "./slots.ts";
import type { Step, StepId, StepKind, Steps } from "./steps.ts";
import type { Store } from "./stores/store.ts";
import type { Telemetry } from "./telemetry.ts";
import type { WorkLimits } from "./work-limits.ts";

/** What runs need of their agent. */
export interface RunDeps {
  readonly client: AgentClient;
  /** A client whose calls tell that the work does something. */
  readonly observedClient: (onCall: () => void) => AgentClient;
  readonly store: Store;
  readonly clock: AgentClock;
  readonly answers: Answers;
  readonly slot: Slot;
  readonly telemetry: Telemetry;
  /** How long results of steps are kept. */
  readonly keepMs: number;
  /** Makes the run known, so that events can end it; returns how to undo that. */
  readonly register: (abort: (reason: Error) => void) => () => void;
}

/** What a run works with. */
interface ActiveRunParts {
  readonly deps: RunDeps;
  readonly runId: string;
  readonly steps: Steps;
  readonly heartbeat: Heartbeat;
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
  /** What the work has begun and not ended. */
  readonly #open = new Set<Promise<unknown>>();

  constructor(parts: ActiveRunParts) {
    const { deps, runId, limits, signal } = parts;
    this.id = runId;
    this.activationId = deps.client.activationId;
    this.client = deps.observedClient(() => limits.touch());
    this.signal = signal;
    this.#parts = parts;
    this.#workedMs = () => limits.workedMs;
    // They reject now. Work that hangs elsewhere will not look at them, and that must not end the process.
    signal.addEventListener("abort", () => {
      for (const promise of this.#open) promise.catch(() => {});
    });
  }

  get lastCheckpoint(): unknown {
    return this.#parts.steps.checkpoint;
  }

  log(message: string, { level = "info", data }: { level?: LogEntry["level"]; data?: unknown } = {}): void {
    assertJson(data, "The data of the log entry");
    if (!this.#isNew()) return;
    const at = new Date(this.#parts.deps.clock.now()).toISOString();
    this.#parts.heartbeat.log({ level, message, data, at });
  }

  progress(percent: number, label?: string): void {
    if (this.#isNew()) this.#parts.heartbeat.report({ progress: { percent, label } });
  }

  async checkpoint(value: unknown): Promise<void> {
    if (!this.#isNew()) return;
    await this.#parts.steps.setCheckpoint(value, this.#workedMs);
    this.#parts.heartbeat.report({ checkpoint: value });
  }

  step<T>(name: string, work: (step: Step) => Promise<T>): Promise<T> {
    return this.#named("step", name, (id) => this.#once(id, (step) => this.#parts.limits.step(() => work(step))));
  }

  credits(name: string, spending: CreditsRequest): Promise<CreditTransaction> {
    return this.#named("credits", name, (id) =>
      this.#once(id, ({ idempotencyKey }) =>
        this.client.credits.consume({ action: name, ...spending, runId: this.id }, { signal: this.signal, idempotencyKey }),
      ),
    );
  }

  approval(name: string, { text, format, ...approval }: ApprovalRequest): Promise<ApprovalAnswer> {
    return this.#named("approval", name, (id) =>
      this.#once(id, async () => {
        // What is logged before the question reads before it.
        await this.#parts.heartbeat.flush();
        const message = await this.#once({ ...id, kind: "approval-request" }, ({ idempotencyKey: externalId }) =>
          this.client.messages.create(
            { type: "APPROVAL_REQUEST", text, format, runId: this.id, externalId, approval },
            { signal: this.signal, onStatus: approval.suspendRun === false ? undefined : this.#onStatus },
          ),
        );
        const { decision, comment } = decisionOf(message) ?? (await this.#answerTo<HandledEvents["approval_response"]>(message.id));
        return { decision, approved: decision === "approved", comment, messageId: message.id };
      }),
    );
  }

  wakeup(name: string, when: WakeupRequest): Promise<HandledEvents["agent.wakeup"]> {
    return this.#named("wakeup", name, (id) =>
      this.#once(id, async () => {
        if (when.delaySeconds === undefined && when.runAt === undefined)
          throw new UsageError(`The wakeup ${name} needs delaySeconds or runAt.`);
        await this.#parts.heartbeat.flush();
        const { wakeupId } = await this.#once({ ...id, kind: "wakeup-request" }, ({ idempotencyKey: dedupeKey }) =>
          this.client.wakeups.create(
            { reason: name, ...when, runId: this.id, dedupeKey, suspendRun: true },
            { signal: this.signal, onStatus: this.#onStatus },
          ),
        );
        return this.#answerTo<HandledEvents["agent.wakeup"]>(wakeupId);
      }),
    );
  }

  /** Whether what is reported now has not been reported by an earlier pass. Throws when the run is over. */
  #isNew(): boolean {
    this.signal.throwIfAborted();
    this.#parts.limits.touch();
    return !this.#parts.steps.isReplaying;
  }

  #named<T>(kind: StepKind, name: string, work: (id: StepId) => Promise<T>): Promise<T> {
    const promise = this.#perform(kind, name, work);
    this.#open.add(promise);
    const close = (): void => void this.#open.delete(promise);
    promise.then(close, close);
    return promise;
  }

  async #perform<T>(kind: StepKind, name: string, work: (id: StepId) => Promise<T>): Promise<T> {
    this.signal.throwIfAborted();
    this.#parts.limits.touch();
    const result = await this.#parts.steps.named(kind, name, work);
    this.signal.throwIfAborted();
    this.#parts.limits.touch();
    return result;
  }

  async #once<T>(id: StepId, work: (step: Step) => Promise<T>): Promise<T> {
    const { steps, deps } = this.#parts;
    const attributes = { activationId: this.activationId, runId: this.id, kind: id.kind, step: id.name };
    return steps.once(id, this.#workedMs, (step) => deps.telemetry({ name: "step", attributes }, () => work(step)));
  }

  /** The service suspends a run when a request is new, not when a repeat finds it. */
  readonly #onStatus = (status: number): void => {
    if (status === 201) this.#parts.heartbeat.wait();
  };

  async #answerTo<A extends Answer>(id: string): Promise<A> {
    const { deps, heartbeat, limits } = this.#parts;
    return limits.wait(() =>
      deps.slot.lend(async () => {
        const answer = (await deps.answers.wait(id, this.signal)) as A;
        heartbeat.resume();
        return answer;
      }),
    );
  }
}

/** The answer a message already has, when the request is repeated after a crash. */
function decisionOf({ approval }: Message): { decision: string; comment: string | null } | null {
  if (!approval || approval.status === "PENDING" || approval.decision === null) return null;
  return { decision: approval.decision, comment: approval.comment };
}
