/** A piece of work of an agent. */
export interface TelemetrySpan {
  /** `event`: the handlers of an event; `run`: the work of a run; `step`: a step that was not done before; `call`: a call with its retries. */
  readonly name: "event" | "run" | "step" | "call";
  /** Ids and names, such as `activationId`, `runId`, `step` and `attempt`; never keys or texts. */
  readonly attributes: Readonly<Record<string, string | number>>;
}

/**
 * Performs `work` once and returns what it returns, or throws what it throws. In between it measures: a span of OpenTelemetry, a timer, a line in
 * a log.
 */
export type Telemetry = <T>(span: TelemetrySpan, work: () => Promise<T>) => Promise<T>;

export const noTelemetry: Telemetry = (_span, work) => work();
