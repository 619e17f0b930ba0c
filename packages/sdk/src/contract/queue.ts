import { endpoint } from "./endpoint.ts";
import { Instant } from "./page.ts";
import { DomainName } from "./senders.ts";
import * as z from "./zod.ts";

/** A domain to which no email is sent. */
export const QueueHold = z
  .object({
    domain: z.string(),
    heldAt: Instant,
    reason: z.string().nullable().meta({ description: "As given" }),
    emails: z.int().meta({ description: "Emails that wait for the release, counted up to 10,000" }),
  })
  .meta({ id: "QueueHold" });
export type QueueHold = z.infer<typeof QueueHold>;

/** The queue of a server: what waits, and whether mail is sent. */
export const QueueStatus = z
  .object({
    paused: z.boolean().meta({ description: "True while no email is sent" }),
    pausedAt: Instant.nullable(),
    reason: z.string().nullable().meta({ description: "Why it was paused, as given" }),
    jobs: z.object({ ready: z.int(), running: z.int(), dead: z.int(), unhandled: z.int() }).meta({
      description: "Jobs by state, each counted up to 10,000, with the emails that wait (ready) and are being delivered (running)",
    }),
    unhandledKinds: z
      .record(z.string(), z.int())
      .meta({ description: "Jobs that wait because this version does not know their kind, by kind" }),
    oldestDueAt: Instant.nullable().meta({
      description: "Time at which the job or email that has waited longest was due; null while none is due",
    }),
    holds: z.array(QueueHold).meta({ description: "Domains to which no email is sent" }),
  })
  .meta({ id: "QueueStatus" });
export type QueueStatus = z.infer<typeof QueueStatus>;

const REASON_CHARS = 500;
const Reason = z.string().trim().min(1).max(REASON_CHARS).optional();
const Destination = DomainName.meta({ description: "The domain of the recipients; its subdomains are others" });

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
      reason: Reason.meta({ description: "Shown wherever the pause is shown" }),
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
  hold: endpoint({
    method: "POST",
    path: "/api/v1/queue/hold",
    access: "operator",
    summary: "Hold all emails to a domain",
    description:
      "No email of any workspace to this domain leaves until it is released, also after a restart and on every server of the database. Emails are still accepted, keep their status and wait; they can be cancelled meanwhile. Those that were claimed at this moment, a few dozen at most, still leave. Holding again replaces the reason.",
    body: z.strictObject({ domain: Destination, reason: Reason.meta({ description: "Shown with the hold" }) }),
    output: QueueStatus,
    examples: [
      { summary: "A provider that blocks us", body: { domain: "example.com", reason: "Blocked; asked their postmaster on Monday" } },
    ],
  }),
  release: endpoint({
    method: "POST",
    path: "/api/v1/queue/release",
    access: "operator",
    summary: "Release the emails to a domain that was held",
    description: "They are sent as bulk mail, after single emails. Releasing a domain that is not held changes nothing.",
    body: z.strictObject({ domain: Destination }),
    output: QueueStatus,
    examples: [{ summary: "Send what waits", body: { domain: "example.com" } }],
  }),
  requeue: endpoint({
    method: "POST",
    path: "/api/v1/queue/requeue",
    access: "operator",
    summary: "Try deferred emails again now",
    description:
      "Emails that wait for their next attempt after a temporary failure are tried at once, those of one domain or all. It runs in the background. The attempt counts as any other; scheduled emails and those of paused campaigns are left alone.",
    body: z.strictObject({ domain: Destination.optional() }),
    output: QueueStatus,
    examples: [{ summary: "After an outage of one provider", body: { domain: "example.com" } }],
  }),
};
