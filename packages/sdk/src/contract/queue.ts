import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { Instant } from "./page.ts";

/** The queue of a server: what waits, and whether mail is sent. */
export const QueueStatus = z
  .object({
    paused: z.boolean().meta({ description: "True while no email is sent" }),
    pausedAt: Instant.nullable(),
    reason: z.string().nullable().meta({ description: "Why it was paused, as given" }),
    jobs: z
      .object({ ready: z.int(), running: z.int(), dead: z.int() })
      .meta({ description: "Rows by state, each counted up to 10,000. A row may stand for many emails" }),
    oldestDueAt: Instant.nullable().meta({ description: "When the job that has waited longest was due" }),
  })
  .meta({ id: "QueueStatus" });
export type QueueStatus = z.infer<typeof QueueStatus>;

const PAUSE_REASON_CHARS = 500;

export const queue = {
  status: endpoint({
    method: "GET",
    path: "/api/v1/queue",
    access: "operator",
    summary: "Show how much work waits, and whether sending is paused",
    output: QueueStatus,
    examples: [{ summary: "Now" }],
  }),
  pause: endpoint({
    method: "POST",
    path: "/api/v1/queue/pause",
    access: "operator",
    summary: "Pause all sending",
    description:
      "No email of any workspace leaves until sending is resumed, also after a restart and on every server of the database. Emails are still accepted and wait. Those being handed over at this moment, a few dozen at most, still leave. Pausing again replaces the reason.",
    body: z.strictObject({
      reason: z.string().trim().min(1).max(PAUSE_REASON_CHARS).optional().meta({ description: "Shown wherever the pause is shown" }),
    }),
    output: QueueStatus,
    examples: [{ summary: "While the relay is moved", body: { reason: "The relay is being moved" } }],
  }),
  resume: endpoint({
    method: "POST",
    path: "/api/v1/queue/resume",
    access: "operator",
    summary: "Resume sending",
    description: "What waits is sent, single emails before campaigns. Resuming when nothing is paused changes nothing.",
    output: QueueStatus,
    examples: [{ summary: "Go on" }],
  }),
};
