import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { hook } from "../../test/hook.ts";
import { receiver } from "../../test/receiver.ts";
import { silentLog } from "../lib/log.ts";
import type { Tracing } from "../lib/tracing.ts";
import { createWorld } from "../testing.ts";
import { readTracing } from "./config.ts";
import { createTracing } from "./otlp.ts";

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly status: { readonly code?: number; readonly message?: string };
  readonly attributes: readonly { key: string; value: { stringValue?: string; intValue?: number } }[];
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: OtlpSpan["attributes"] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

/** Traces that are exported to a collector on this machine, as the variables of the environment say. */
async function collector(variables: Record<string, string> = {}) {
  const exports: { readonly headers: NodeJS.Dict<string | string[]>; readonly body: Export }[] = [];
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      exports.push({ headers: request.headers, body: body as Export });
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, ...variables };
  const config = readTracing(env, refuse);
  if (config === null) throw new Error("Traces are off.");
  const tracing = withEnvironment(env, () => createTracing(config, { version: "1.2.3", log: silentLog }));
  return {
    tracing,
    exports,
    /** Exports what is left; returns all spans. */
    spans: async (): Promise<OtlpSpan[]> => {
      await tracing.close();
      return exports.flatMap(({ body }) => body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)));
    },
  };
}

/** The exporter reads the environment of the process while it is made. */
function withEnvironment(env: Record<string, string>, make: () => Tracing): Tracing {
  const before = Object.keys(env).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, env);
  try {
    return make();
  } finally {
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  }
}

function refuse(message: string): never {
  throw new Error(message);
}

const attributesOf = ({ attributes }: { attributes: OtlpSpan["attributes"] }): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]));

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER = "00f067aa0ba902b7";
const mail = { from: "Acme <hello@acme.example>", to: "ada@example.com", subject: "Hello", text: "It works." };

test("a send, its hand-over and its webhook are one trace, which began with the caller and goes on at the receiver", async () => {
  const traces = await collector({
    OTEL_SERVICE_NAME: "mail",
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment=test",
    OTEL_EXPORTER_OTLP_HEADERS: "x-token=secret",
  });
  await using shop = await receiver();
  const world = await createWorld({ tracing: traces.tracing });
  await world.sdk.webhooks.create({ url: shop.url, events: ["email.delivered"] });
  const response = await world.fetch(`${world.url}/api/v1/send`, {
    method: "POST",
    headers: { authorization: `Bearer ${world.apiKey}`, "content-type": "application/json", traceparent: `00-${TRACE}-${CALLER}-01` },
    body: JSON.stringify(mail),
  });
  const { id } = (await response.json()) as { id: string };
  // Another send, at the same time and without a trace: it must not end up in this one.
  await world.sdk.emails.send({ ...mail, to: "grace@example.com" });
  await world.settle();
  await world.dispose();
  const spans = await traces.spans();

  const own = spans.filter(({ traceId }) => traceId === TRACE);
  const [request, ...others] = own.filter(({ name }) => name === "POST /api/v1/send") as [OtlpSpan, ...OtlpSpan[]];
  expect(others).toEqual([]);
  expect(request).toMatchObject({ parentSpanId: CALLER, kind: 2 });
  expect(attributesOf(request)).toMatchObject({ "http.route": "/api/v1/send", "http.response.status_code": response.status });
  const below = own.filter(({ parentSpanId }) => parentSpanId === request.spanId);
  expect(below.map(({ name }) => name).sort()).toEqual(["POST webhook", "hand over email"]);
  const handOver = below.find(({ name }) => name === "hand over email") as OtlpSpan;
  expect(attributesOf(handOver)).toMatchObject({ "mailsvc.email.id": id, "mailsvc.outcome": "delivered", "mailsvc.attempt": 1 });
  const webhook = below.find(({ name }) => name === "POST webhook") as OtlpSpan;
  expect(attributesOf(webhook)).toMatchObject({ "mailsvc.event.type": "email.delivered", "http.response.status_code": 200 });
  expect(own).toHaveLength(3);
  // The receiver can continue it.
  const received = shop.received.find(({ headers }) => headers["traceparent"]?.includes(TRACE));
  expect(received?.headers["traceparent"]).toBe(`00-${TRACE}-${webhook.spanId}-01`);
  expect(shop.received.filter(({ headers }) => headers["traceparent"]?.includes(TRACE))).toHaveLength(1);
  expect(spans.filter(({ name, traceId }) => name === "hand over email" && traceId !== TRACE)).toHaveLength(1);
  // As the environment says, and without personal data.
  expect(traces.exports[0]?.headers).toMatchObject({ "x-token": "secret", "content-type": "application/json" });
  expect(attributesOf(traces.exports[0]?.body.resourceSpans[0]?.resource as { attributes: OtlpSpan["attributes"] })).toMatchObject({
    "service.name": "mail",
    "service.version": "1.2.3",
    "deployment.environment": "test",
  });
  expect(JSON.stringify(traces.exports.map(({ body }) => body))).not.toMatch(/ada@|grace@|acme\.example|Hello|ms_(?:live|own|dev)/);
});

test("an event for an agent and the jobs of a request belong to the trace of the request", async () => {
  const traces = await collector();
  await using agent = await hook();
  const world = await createWorld({ tracing: traces.tracing });
  const { sdk } = world;
  await sdk.listings.create({ slug: "writer", name: "Writer", webhookUrl: agent.url, permissions: [] });
  const { id } = await sdk.listings.checkout("writer");
  await sdk.payments.confirm(id);
  await sdk.activations.create({ agentSlug: "writer", acceptedPermissions: [] });
  const segment = await sdk.segments.create({ name: "All", rules: { all: [{ field: "email", operator: "contains", value: "@" }] } });
  await sdk.segments.delete(segment.id);
  await world.settle();
  await world.dispose();
  const spans = await traces.spans();
  const parentOf = (name: string): string | undefined => {
    const span = spans.find((one) => one.name === name);
    return spans.find(({ spanId }) => spanId === span?.parentSpanId)?.name;
  };
  expect(parentOf("POST webhook")).toBe("POST /api/v1/marketplace/activations");
  expect(parentOf("job segments.clear")).toBe("DELETE /api/v1/segments/:id");
  // Later work that the server does by itself is no part of a request.
  for (const { name, parentSpanId } of spans.filter(({ name }) => /retention|cleanup|sweep/i.test(name)))
    expect([name, parentSpanId ?? ""]).toEqual([name, ""]);
});

test("a failure marks its span, and the sampler of the environment decides", async () => {
  const failing = await collector();
  const world = await createWorld({ tracing: failing.tracing });
  await world.sdk.emails.send({ ...mail, to: "bounced@simulator.mailsvc.test" });
  await world.settle();
  await world.dispose();
  const handOver = (await failing.spans()).find(({ name }) => name === "hand over email");
  expect(handOver).toMatchObject({ status: { code: 2, message: "bounced" } });

  const off = await collector({ OTEL_TRACES_SAMPLER: "parentbased_always_off" });
  const quiet = await createWorld({ tracing: off.tracing });
  await quiet.sdk.emails.send(mail);
  await quiet.settle();
  await quiet.dispose();
  expect(await off.spans()).toEqual([]);
});

test("traces are off without a variable of OpenTelemetry, and a wrong one is refused by name", () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };
  expect(readTracing({}, refuse)).toBe(null);
  expect(readTracing({ ...endpoint, OTEL_SDK_DISABLED: "true" }, refuse)).toBe(null);
  expect(readTracing({ ...endpoint, OTEL_TRACES_EXPORTER: "none" }, refuse)).toBe(null);
  expect(readTracing({ OTEL_TRACES_EXPORTER: "otlp" }, refuse)).toEqual({
    sampler: "parentbased_always_on",
    ratio: 1,
    exportEveryMs: 5000,
  });
  expect(readTracing({ ...endpoint, OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.1" }, refuse)).toMatchObject({
    sampler: "traceidratio",
    ratio: 0.1,
  });
  for (const wrong of [
    { OTEL_TRACES_EXPORTER: "zipkin" },
    { OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" },
    { ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" },
    { ...endpoint, OTEL_TRACES_SAMPLER: "sometimes" },
    { ...endpoint, OTEL_TRACES_SAMPLER_ARG: "2" },
  ])
    expect(() => readTracing(wrong, refuse)).toThrow(Object.keys(wrong).at(-1));
});
