/** Attributes of a span. Never a key, an address or a body. */
type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanOptions {
  readonly name: string;
  /** `server` for a request that arrives, `client` for one that leaves, `consumer` for a job. */
  readonly kind: "server" | "client" | "consumer";
  /** The traceparent (W3C Trace Context) of what caused it; without one, it begins a trace. */
  readonly parent?: string | null | undefined;
  readonly attributes?: SpanAttributes;
}

export interface Span {
  /** Header of W3C Trace Context with which the other side of a request continues the trace. */
  readonly traceparent: string;
  set(attributes: SpanAttributes): void;
  /** Marks it as failed. */
  fail(reason: string): void;
}

/** Traces of OpenTelemetry. Absent while tracing is off. */
export interface Tracing {
  /** Runs work in a span, which ends with it. An error marks the span as failed. */
  span<T>(options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T>;
  /** The traceparent of the span this code runs in; null outside of spans. */
  current(): string | null;
  /** A function that runs in the span of this moment, whenever it is called. */
  bind<Args extends unknown[], T>(fn: (...args: Args) => T): (...args: Args) => T;
  /** Runs work outside of all spans: what it starts may go on for others. */
  outside<T>(work: () => T): T;
  /** Exports what is left. */
  close(): Promise<void>;
}
