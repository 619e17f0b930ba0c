import type { Deps } from "../../deps.ts";
import type { JobHandler } from "../../queue/queue.ts";

/** Closes a checkout of a listing that has ended. */
export const CLOSE_JOB = "agent.payment.close";
/** Stops charging for a listing that has ended. */
export const STOP_JOB = "agent.payment.stop";

/** What the provider must hear of. A failure is tried again by the queue. */
export function paymentJobs({ payments }: Deps): Readonly<Record<string, JobHandler>> {
  return {
    [CLOSE_JOB]: async ({ payload }) => {
      await payments.close(String(payload.session));
      return {};
    },
    [STOP_JOB]: async ({ payload }) => {
      await payments.stop(String(payload.subscription));
      return {};
    },
  };
}
