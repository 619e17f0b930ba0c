import type { Db } from "../db/db.ts";
import type { Tracing } from "../lib/tracing.ts";
import type { Mailer, Receipt } from "../mail/mailer.ts";
import type { BatchHandler, JobHandler, JobHandlers, NewJob, Queue } from "../queue/queue.ts";

/** The key under which a job's payload carries the trace it belongs to. */
const TRACEPARENT = "traceparent";

/**
 * A database whose transactions run in the span of their caller. It runs them later and together with others, and what it wakes
 * after a commit works for everybody: neither may run in the span that happened to be first.
 */
export function traceTransactions(db: Db, tracing: Tracing): Db {
  return {
    engine: db.engine,
    get read() {
      return db.read;
    },
    tx: (fn, options) => {
      const bound = tracing.bind(fn);
      return tracing.outside(() => db.tx(bound, options));
    },
    health: () => db.health(),
    isUnavailable: (error) => db.isUnavailable(error),
    isAway: (error) => db.isAway(error),
    watchRefusals: (hear) => db.watchRefusals(hear),
    ping: () => db.ping(),
    close: () => db.close(),
  };
}

/** A queue whose jobs belong to the trace that adds them, unless they are for later. */
export function traceJobs(queue: Queue, tracing: Tracing, now: () => number): Queue {
  const stamp = (job: NewJob): NewJob => {
    const traceparent = tracing.current();
    return traceparent === null || (job.runAt ?? 0) > now() ? job : { ...job, payload: { ...job.payload, [TRACEPARENT]: traceparent } };
  };
  return {
    ...queue,
    enqueue: (tx, ...jobs) => queue.enqueue(tx, ...jobs.map(stamp)),
    start: (handlers, concurrency) => queue.start(traceHandlers(handlers, tracing), concurrency),
  };
}

/** A mailer whose hand-overs are spans. */
export function traceMailer(mailer: Mailer, tracing: Tracing): Mailer {
  return {
    ...mailer,
    send: (mail) => {
      const attributes = {
        "mailsvc.mailer": mailer.name,
        "mailsvc.attempt": mail.attempt,
        ...(mail.origin && { "mailsvc.workspace.id": mail.origin.workspaceId }),
        ...(mail.origin?.emailId && { "mailsvc.email.id": mail.origin.emailId }),
      };
      return tracing.span({ name: "hand over email", kind: "client", parent: mail.traceparent, attributes }, async (span) => {
        const receipt = await mailer.send(mail);
        span.set({ "mailsvc.outcome": receipt.outcome });
        if (isFailure(receipt)) {
          if (receipt.error.smtpCode !== null) span.set({ "mailsvc.smtp.code": receipt.error.smtpCode });
          span.fail(receipt.outcome);
        }
        return receipt;
      });
    },
  };
}

type Failure = Extract<Receipt, { outcome: "bounced" | "deferred" | "unknown" }>;

function isFailure(receipt: Receipt): receipt is Failure {
  return receipt.outcome !== "sent" && receipt.outcome !== "delivered";
}

function traceHandlers(handlers: JobHandlers, tracing: Tracing): JobHandlers {
  const batches = new Map<BatchHandler, BatchHandler>();
  return Object.fromEntries(
    Object.entries(handlers).map(([kind, handler]) => {
      if (typeof handler === "function") return [kind, traceHandler(handler, tracing)];
      // Several kinds may have one handler, which the queue recognises by its identity. Its parts make their own spans.
      // It may be an object of a class, of which a copy would lose the methods.
      if (!batches.has(handler))
        batches.set(handler, {
          freeSlots: (lane) => handler.freeSlots(lane),
          run: (jobs, settle) => handler.run(jobs, settle),
          commit: (tx, effects) => tracing.outside(() => handler.commit(tx, effects)),
          ...(handler.giveUp && { giveUp: (job) => handler.giveUp?.(job) }),
        });
      return [kind, batches.get(handler) as BatchHandler];
    }),
  );
}

/** The attempt is the span; what it commits afterwards still belongs to it. */
function traceHandler(handler: JobHandler, tracing: Tracing): JobHandler {
  return (job) => {
    const { [TRACEPARENT]: parent, workspaceId } = job.payload;
    const attributes = {
      "mailsvc.job.kind": job.kind,
      "mailsvc.attempt": job.attempt,
      ...(typeof workspaceId === "string" && { "mailsvc.workspace.id": workspaceId }),
    };
    const options = { name: `job ${job.kind}`, kind: "consumer", parent: typeof parent === "string" ? parent : null, attributes } as const;
    return tracing.span(options, async () => {
      const outcome = await handler(job);
      return outcome.commit ? { ...outcome, commit: tracing.bind(outcome.commit) } : outcome;
    });
  };
}
