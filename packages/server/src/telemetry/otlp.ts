import { AsyncLocalStorage } from "node:async_hooks";
import { type Context, DiagLogLevel, diag, ROOT_CONTEXT, type Span as SdkSpan, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { realTime } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Span, SpanOptions, Tracing } from "../lib/tracing.ts";
import type { TracingConfig } from "./config.ts";

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, consumer: SpanKind.CONSUMER } as const;
// Time to export the last spans when the server stops; after that they are lost.
const LAST_EXPORT_MS = 1000;
const propagator = new W3CTraceContextPropagator();

/** Spans that are exported with OTLP over HTTP, as JSON, to where the variables of OpenTelemetry say. */
export function createTracing(config: TracingConfig, { version, log }: { version: string; log: Log }): Tracing {
  // An exporter that fails says so here; the spans are lost, the work they are about is not.
  diag.setLogger(
    {
      error: (message) => log.warn("traces: an export failed", { error: String(message).slice(0, 300) }),
      warn: () => {},
      info: () => {},
      debug: () => {},
      verbose: () => {},
    },
    { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true },
  );
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ "service.name": "mailsvc", "service.version": version }).merge(
      // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES.
      detectResources({ detectors: [envDetector] }),
    ),
    sampler: chooseSampler(config),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter(), scheduledDelayMillis: config.exportEveryMs })],
  });
  const tracer = provider.getTracer("mailsvc", version);
  const active = new AsyncLocalStorage<Span | undefined>();

  return {
    span: ({ name, kind, parent, attributes }: SpanOptions, work) => {
      const sdkSpan = tracer.startSpan(name, { kind: KINDS[kind], ...(attributes && { attributes }) }, toContext(parent));
      const span: Span = {
        traceparent: toTraceparent(sdkSpan),
        set: (more) => void sdkSpan.setAttributes(more),
        fail: (message) => void sdkSpan.setStatus({ code: SpanStatusCode.ERROR, message }),
      };
      return active.run(span, async () => {
        try {
          return await work(span);
        } catch (error) {
          span.fail((error as Error).name ?? "Error");
          throw error;
        } finally {
          sdkSpan.end();
        }
      });
    },
    current: () => active.getStore()?.traceparent ?? null,
    bind: (fn) => {
      const span = active.getStore();
      return (...args) => active.run(span, () => fn(...args));
    },
    outside: (work) => active.run(undefined, work),
    // A collector that is away would be tried again for ten seconds.
    close: () =>
      new Promise((resolve, reject) => {
        const late = realTime.after(LAST_EXPORT_MS, resolve);
        provider
          .shutdown()
          .finally(() => late.cancel())
          .then(resolve, reject);
      }),
  };
}

function toContext(traceparent: string | null | undefined): Context {
  if (!traceparent) return ROOT_CONTEXT;
  return propagator.extract(ROOT_CONTEXT, { traceparent }, { get: (carrier, key) => carrier[key as "traceparent"], keys: Object.keys });
}

function toTraceparent(span: SdkSpan): string {
  const carrier: { traceparent?: string } = {};
  propagator.inject(trace.setSpan(ROOT_CONTEXT, span), carrier, { set: (into, key, value) => void Object.assign(into, { [key]: value }) });
  return carrier.traceparent ?? "";
}

function chooseSampler({ sampler, ratio }: TracingConfig): Sampler {
  const root = sampler.endsWith("always_on")
    ? new AlwaysOnSampler()
    : sampler.endsWith("always_off")
      ? new AlwaysOffSampler()
      : new TraceIdRatioBasedSampler(ratio);
  return sampler.startsWith("parentbased_") ? new ParentBasedSampler({ root }) : root;
}
