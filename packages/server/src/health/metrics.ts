import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { JOB_STATES } from "@mailsvc/sdk/contract";
import { eq } from "drizzle-orm";
import { collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Deps } from "../deps.ts";
import type { ServedRequest } from "../http/router.ts";

/** What a database tells about itself; null where it has no such thing. */
export interface BackendStats {
  /** Size of the write-ahead log of SQLite, in bytes. */
  readonly walBytes: number | null;
  /** Connections of the pool to Postgres. */
  readonly pool: { readonly open: number; readonly idle: number; readonly waiting: number } | null;
}

export interface MetricsSources {
  readonly deps: Pick<Deps, "db" | "queue" | "clock" | "storage">;
  readonly readStats: () => Promise<BackendStats>;
}

/** Metrics in the format of Prometheus. */
export interface Metrics {
  /** Counts a request that was served. */
  observe(request: ServedRequest): void;
  /** Takes gauges from these sources whenever metrics are read. */
  collectFrom(sources: MetricsSources): void;
  render(): Promise<string>;
  readonly contentType: string;
}

// A request should take milliseconds; a few slow ones, such as uploads, take seconds.
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** Makes the metrics of one server, and those of its process: event loop, garbage collection, memory. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const durations = new Histogram({
    name: "mailsvc_http_request_duration_seconds",
    help: "Time to serve a request, by method, route and status",
    labelNames: ["method", "route", "status"],
    buckets: DURATION_BUCKETS,
    registers,
  });
  return {
    observe: ({ method, route, status, ms }) => durations.observe({ method, route: route ?? "unknown", status }, ms / 1000),
    collectFrom: (sources) => addGauges(registry, sources),
    render: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

/** Serves `GET /metrics` on a port of its own, which is not meant for the Internet. Throws the error of `listen`. */
export async function serveMetrics(
  metrics: Metrics,
  { host, port }: { host: string; port: number },
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((req, res) => {
    if (req.url !== "/metrics" || req.method !== "GET") {
      res.writeHead(404).end();
      return;
    }
    metrics.render().then(
      (text) => res.writeHead(200, { "content-type": metrics.contentType }).end(text),
      // A scrape that fails shows in Prometheus as a gap; the reason is in the server's log.
      () => res.writeHead(503).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, resolve);
  });
  const { address, family, port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${family === "IPv6" ? `[${address}]` : address}:${bound}/metrics`,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

/** A gauge that is read when metrics are: `read` gives its value, or one value per label. */
interface GaugeSource {
  readonly name: string;
  readonly help: string;
  readonly label?: string;
  read(): Promise<number | Readonly<Record<string, number>> | null>;
}

function addGauges(registry: Registry, sources: MetricsSources): void {
  for (const source of listGauges(sources)) addGauge(registry, source);
}

function addGauge(registry: Registry, { name, help, label, read }: GaugeSource): void {
  const gauge = new Gauge({ name, help, labelNames: label === undefined ? [] : [label], registers: [registry], collect: () => collect() });
  const collect = async (): Promise<void> => {
    const value = await read();
    if (typeof value === "number") gauge.set(value);
    else for (const [key, one] of Object.entries(value ?? {})) gauge.set({ [label as string]: key }, one);
  };
}

function listGauges({ deps: { db, queue, storage }, readStats }: MetricsSources): GaugeSource[] {
  const { emails } = db.read.t;
  return [
    {
      name: "mailsvc_jobs",
      help: "Jobs in the queue, by state",
      label: "state",
      read: async () => {
        const totals: Record<string, number> = {};
        for (const state of JOB_STATES) totals[state] = (await queue.list(db.read, { state, limit: 1, offset: 0 })).total;
        return totals;
      },
    },
    {
      name: "mailsvc_storage_writable",
      help: "1 while the database takes writes, otherwise 0",
      read: async () => (storage.problem === null ? 1 : 0),
    },
    {
      name: "mailsvc_emails_deferred",
      help: "Emails that a mail server refused for now, waiting for their next attempt",
      read: () => db.read.$count(emails, eq(emails.status, "deferred")),
    },
    {
      name: "mailsvc_emails_in_doubt",
      help: "Emails found in the gap between hand-over and commit after a crash",
      read: () => db.read.$count(emails, eq(emails.inDoubt, true)),
    },
    { name: "mailsvc_sqlite_wal_bytes", help: "Size of SQLite's write-ahead log", read: async () => (await readStats()).walBytes },
    {
      name: "mailsvc_postgres_connections",
      help: "Connections to Postgres, and callers that wait for one",
      label: "state",
      read: async () => (await readStats()).pool,
    },
  ];
}
