import { HOUR } from "../lib/units.ts";

/** Settings of tracing. The exporter itself reads its address from OTEL_EXPORTER_OTLP_*. */
export interface TracingConfig {
  readonly sampler: Sampler;
  /** The share of traces that `traceidratio` keeps, 0 to 1. */
  readonly ratio: number;
  /** Interval between two exports, ms. */
  readonly exportEveryMs: number;
}

const SAMPLERS = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;
type Sampler = (typeof SAMPLERS)[number];

const ENDPOINTS = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
const PROTOCOLS = ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"];

/**
 * Reads the variables of OpenTelemetry. Null without an endpoint or an exporter, so that nothing is loaded. `refuse` throws for a value
 * that cannot be honoured.
 */
export function readTracing(env: Readonly<Record<string, string | undefined>>, refuse: (message: string) => never): TracingConfig | null {
  const exporter = env["OTEL_TRACES_EXPORTER"] ?? (ENDPOINTS.some((name) => env[name]) ? "otlp" : "none");
  if (env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true" || exporter === "none" || exporter === "") return null;
  if (exporter !== "otlp") refuse(`OTEL_TRACES_EXPORTER is otlp or none, not "${exporter}".`);
  for (const name of ENDPOINTS)
    if (env[name] && !/^https?:\/\//.test(env[name])) refuse(`${name} must begin with http:// or https://, not "${env[name]}".`);
  for (const name of PROTOCOLS)
    if (env[name]?.startsWith("grpc")) refuse(`${name} is http/json or http/protobuf (port 4318 of a collector), not grpc.`);
  const asked = env["OTEL_TRACES_SAMPLER"] || "parentbased_always_on";
  const sampler =
    SAMPLERS.find((known) => known === asked) ?? refuse(`OTEL_TRACES_SAMPLER is one of ${SAMPLERS.join(", ")}, not "${asked}".`);
  const number = (name: string, standard: number, most: number): number => {
    const value = env[name] ? Number(env[name]) : standard;
    return value >= 0 && value <= most ? value : refuse(`${name} must be a number from 0 to ${most}, not "${env[name]}".`);
  };
  return {
    sampler,
    ratio: number("OTEL_TRACES_SAMPLER_ARG", 1, 1),
    exportEveryMs: number("OTEL_BSP_SCHEDULE_DELAY", 5000, HOUR),
  };
}
