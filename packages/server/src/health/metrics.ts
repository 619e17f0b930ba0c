import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { RelayState } from "@mailsvc/sdk/contract";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Db } from "../db/db.ts";
import { countInDoubt, countStatus } from "../emails/emails.ts";
import type { EventReaderDeps } from "../events/deps.ts";
import { loadStreamEnds } from "../events/events.ts";
import type { ServedRequest } from "../http/serve-requests.ts";
import type { StorageHealth } from "../http/storage-health.ts";
import type { InboundDeps } from "../inbound/deps.ts";
import type { Clock } from "../lib/clock.ts";
import type { MailMetricsDeps } from "../metrics/deps.ts";
import { countAlarms } from "../metrics/metrics.ts";
import type { Queue } from "../queue/queue.ts";
import type { SubmissionDeps } from "../submission/deps.ts";
import type { WebhookDeps } from "../webhooks/webhooks.ts";
import type { FileWatch } from "./file-watch.ts";

/** Statistics of a database; null where it has no such thing. */
export interface BackendStats {
  /** Size of the write-ahead log of SQLite, in bytes. */
  readonly walBytes: number | null;
  /** Flushes of that log since the start, and the time they took. */
  readonly flushes: { readonly flushes: number; readonly ms: number } | null;
  /** Connections of the pool to Postgres. */
  readonly pool: { readonly open: number; readonly idle: number; readonly waiting: number } | null;
}

interface MetricsSources {
  readonly deps: Pick<MetricsDeps, "db" | "queue" | "clock" | "storage" | "webhooks" | "relays" | "eventReaders" | "mailCounters">;
  readonly readStats: () => Promise<BackendStats>;
  readonly files: Pick<FileWatch, "exhausted">;
}

/** Metrics in the format of Prometheus. */
export interface Metrics {
  /** Counts a request that was served. */
  observe(request: ServedRequest): void;
  /** Reads these sources whenever metrics are served. */
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
    collectFrom: (sources) => {
      for (const source of listSources(sources)) addSource(registry, source);
      addMailCounters(registry, sources.deps);
    },
    render: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

/** Serves `GET /metrics` on its own port, which is not meant for the Internet. Throws the error of `listen`. */
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

/** A metric that is read when metrics are served: `read` gives its value, or one value per label. */
interface Source {
  readonly name: string;
  readonly help: string;
  readonly label?: string;
  /** True for a number that only grows, such as a count of events. */
  readonly counter?: true;
  read(): Promise<number | Readonly<Record<string, number>> | null>;
}

function addSource(registry: Registry, { name, help, label, counter, read }: Source): void {
  const options = { name, help, labelNames: label === undefined ? [] : [label], registers: [registry] };
  const collect = async (set: (labels: Record<string, string>, value: number) => void): Promise<void> => {
    const value = await read();
    if (typeof value === "number") set({}, value);
    else for (const [key, one] of Object.entries(value ?? {})) set({ [label as string]: key }, one);
  };
  if (counter) {
    const metric = new Counter({
      ...options,
      collect: () => {
        metric.reset();
        return collect((labels, value) => metric.inc(labels, value));
      },
    });
  } else {
    const metric = new Gauge({
      ...options,
      collect: () => {
        // A label that has no value any more is gone.
        if (label !== undefined) metric.reset();
        return collect((labels, value) => metric.set(labels, value));
      },
    });
  }
}

/** Adds the counts of mail that this process has read. Their sum over all servers is that of the service. */
function addMailCounters(registry: Registry, { mailCounters }: Pick<MetricsDeps, "mailCounters">): void {
  const outcomes = new Counter({
    name: "mailsvc_mail_total",
    help: "What happened to mail, by outcome and receiver; mail of test keys is left out",
    labelNames: ["outcome", "receiver"],
    registers: [registry],
    collect: () => {
      outcomes.reset();
      for (const { outcome, receiver, value } of mailCounters.outcomes) outcomes.inc({ outcome, receiver }, value);
    },
  });
  addSource(registry, {
    name: "mailsvc_mail_hand_over_seconds_total",
    help: "Time from when mail was to leave until it was handed over; divide it by that of outcome sent",
    counter: true,
    read: async () => mailCounters.handOverSeconds,
  });
}

function listSources({ deps: { db, queue, clock, storage, webhooks, relays, eventReaders }, readStats, files }: MetricsSources): Source[] {
  return [
    {
      name: "mailsvc_jobs",
      help: "Jobs by state, each counted up to 10000",
      label: "state",
      read: async () => (await queue.readStats(db.read)).jobs,
    },
    {
      name: "mailsvc_unhandled_jobs",
      help: "Jobs that wait because this version does not know their kind, by kind, of 10000 at most",
      label: "kind",
      read: () => queue.countUnhandled(db.read),
    },
    {
      name: "mailsvc_oldest_due_job_seconds",
      help: "How long the job that has waited longest, such as the delivery of an email, has been due",
      read: async () => Math.max(0, clock.now() - ((await queue.readStats(db.read)).oldestDueAt ?? clock.now())) / 1000,
    },
    {
      name: "mailsvc_unread_events",
      help: "Events whose consequences are not stored yet, by reader",
      label: "reader",
      read: async () => Object.fromEntries(eventReaders.countUnread(await loadStreamEnds(db.read))),
    },
    {
      name: "mailsvc_failing_readers",
      help: "Workspaces in which a reader of events cannot go on in this process, by reader",
      label: "reader",
      read: async () => Object.fromEntries(eventReaders.countFailing()),
    },
    {
      name: "mailsvc_rate_alarms",
      help: "Workspaces that have too many bounces or complaints, by state: warned, or paused until a person resumes campaigns",
      label: "state",
      read: () => countAlarms(db.read),
    },
    {
      name: "mailsvc_sending_paused",
      help: "1 while an operator has paused all sending, otherwise 0",
      read: async () => ((await queue.readPause(db.read)) === null ? 0 : 1),
    },
    {
      name: "mailsvc_relay_up",
      help: "1 while this process finds the relay in service, otherwise 0",
      label: "relay",
      read: async () => Object.fromEntries(Object.entries(relays.states()).map(([name, state]) => [name, state === "up" ? 1 : 0])),
    },
    {
      name: "mailsvc_storage_writable",
      help: "1 while the database takes writes, otherwise 0",
      read: async () => (storage.problem === null && db.health().writable ? 1 : 0),
    },
    {
      name: "mailsvc_file_limit_reached_total",
      help: "Looks, one a second, that found no file descriptor free: connections are reset then",
      counter: true,
      read: async () => files.exhausted,
    },
    {
      name: "mailsvc_emails_deferred",
      help: "Emails that a mail server refused for now, waiting for their next attempt; counted up to 10000",
      read: async () => (await countStatus(db.read, "deferred")).total,
    },
    {
      name: "mailsvc_emails_in_doubt",
      help: "Emails found in the gap between hand-over and commit after a crash; counted up to 10000",
      read: async () => (await countInDoubt(db.read)).total,
    },
    {
      name: "mailsvc_webhook_attempts_total",
      help: "Attempts to deliver events to webhooks, by how they ended",
      label: "outcome",
      counter: true,
      read: async () => Object.fromEntries(webhooks.attempts),
    },
    {
      name: "mailsvc_sqlite_flushes_total",
      help: "Flushes of SQLite's write-ahead log",
      counter: true,
      read: async () => (await readStats()).flushes?.flushes ?? null,
    },
    {
      name: "mailsvc_sqlite_flush_seconds_total",
      help: "Time spent on flushes of SQLite's write-ahead log",
      counter: true,
      read: async () => ((await readStats()).flushes?.ms ?? 0) / 1000,
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

export interface HealthDeps {
  readonly clock: Clock;
  readonly db: Db;
  readonly queue: Queue;
  /** Tells if the database can take writes. */
  readonly storage: StorageHealth;
  readonly version: string;
  /** The mail servers, by name, and whether each is in service. */
  readonly relays: { states(): Record<string, RelayState> };
  /** Origins of recent mail over SMTP. */
  readonly inboundPeers: InboundDeps["inboundPeers"];
  /** The readers of events. */
  readonly eventReaders: EventReaderDeps["eventReaders"];
  /** Ports that take mail over SMTP. */
  readonly submissionPorts: SubmissionDeps["submissionPorts"];
}

export interface MetricsDeps extends HealthDeps {
  readonly mailCounters: MailMetricsDeps["mailCounters"];
  readonly webhooks: WebhookDeps["webhooks"];
}
