import { DURATION } from "./duration.ts";
import { endpoint } from "./endpoint.ts";
import { ERROR_CODES } from "./errors.ts";
import { Instant } from "./page.ts";
import * as z from "./zod.ts";

/** A length of time: `500ms`, `30s`, `15m`, `2h`, `30d`, or several: `1h30m`. */
export const Duration = z
  .string()
  .regex(DURATION, "Write a duration such as 30s, 15m, 2h or 30d.")
  .meta({ description: "Duration such as 30s, 15m, 2h, 30d", examples: ["15m"] });

export const ClockState = z
  .object({
    now: Instant,
    mode: z.enum(["running", "frozen"]),
    /** The next timer and its time; null when there is none. */
    next: z.object({ at: Instant, name: z.string() }).nullable(),
    timers: z.int(),
    /** The timers the last call fired, in order. */
    fired: z.array(z.object({ at: Instant, name: z.string() })),
  })
  .meta({ id: "ClockState" });
export type ClockState = z.infer<typeof ClockState>;

// A campaign with many recipients that falls due is sent on the way.
const ADVANCE_SECONDS = 600;

export const clock = {
  show: endpoint({
    method: "GET",
    path: "/__dev/clock",
    access: "dev",
    summary: "Show the time and the next timer",
    output: ClockState,
    examples: [{ summary: "Show" }],
  }),
  freeze: endpoint({
    method: "POST",
    path: "/__dev/clock/freeze",
    access: "dev",
    summary: "Stop the clock, now or at a given later instant",
    body: z.strictObject({ at: Instant.optional().meta({ description: "Instant to stop at; not before now" }) }),
    output: ClockState,
    examples: [{ summary: "Stop here", body: {} }],
  }),
  advance: endpoint({
    method: "POST",
    path: "/__dev/clock/advance",
    access: "dev",
    tool: "clock_advance",
    summary: "Advance the clock, running everything that falls due on the way, in order",
    description: "The response comes when all of that is done, which may take minutes.",
    body: z
      .strictObject({
        by: Duration.optional().meta({ description: "How far, e.g. 15m" }),
        to: Instant.optional().meta({ description: "Until this instant" }),
      })
      .refine((b) => (b.by === undefined) !== (b.to === undefined), { message: "Give either by or to.", path: ["by"] }),
    waitSeconds: ADVANCE_SECONDS,
    output: ClockState,
    examples: [{ summary: "A quarter of an hour", body: { by: "15m" } }],
  }),
  next: endpoint({
    method: "POST",
    path: "/__dev/clock/next",
    access: "dev",
    summary: "Jump to the next timer and run it",
    waitSeconds: ADVANCE_SECONDS,
    output: ClockState,
    examples: [{ summary: "Next" }],
  }),
  thaw: endpoint({
    method: "POST",
    path: "/__dev/clock/thaw",
    access: "dev",
    summary: "Let the clock run again from its current time",
    output: ClockState,
    examples: [{ summary: "Thaw" }],
  }),
};

const SnapshotName = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, "1 to 64 letters, digits, _ and - are needed.")
  .meta({ description: "Name of the snapshot" });

export const Snapshot = z.object({ name: z.string(), takenAt: Instant, size: z.int() }).meta({ id: "Snapshot" });
export type Snapshot = z.infer<typeof Snapshot>;

export const world = {
  reset: endpoint({
    method: "POST",
    path: "/__dev/reset",
    access: "dev",
    tool: "world_reset",
    destructive: true,
    summary: "Delete everything but the seeded workspaces and their keys",
    output: z.object({ reset: z.literal(true) }),
    examples: [{ summary: "Reset" }],
  }),
  snapshots: endpoint({
    method: "GET",
    path: "/__dev/snapshots",
    access: "dev",
    summary: "List snapshots",
    output: z.object({ data: z.array(Snapshot) }),
    examples: [{ summary: "List" }],
  }),
  snapshot: endpoint({
    method: "POST",
    path: "/__dev/snapshot",
    access: "dev",
    summary: "Save the state of the server as a snapshot",
    body: z.strictObject({ name: SnapshotName }),
    output: Snapshot,
    examples: [{ summary: "Save", body: { name: "before" } }],
  }),
  restore: endpoint({
    method: "POST",
    path: "/__dev/restore",
    access: "dev",
    destructive: true,
    summary: "Restore a snapshot",
    body: z.strictObject({ name: SnapshotName }),
    output: Snapshot,
    errors: ["not_found"],
    examples: [{ summary: "Back", body: { name: "before" } }],
  }),
};

export const FaultRule = z.strictObject({
  method: z.enum(["GET", "POST", "PATCH", "DELETE"]).optional().meta({ description: "Only this method" }),
  path: z.string().startsWith("/").max(200).default("/*").meta({ description: "Path; * matches anything, e.g. /api/v1/emails/*" }),
  code: z.enum(ERROR_CODES).optional().meta({ description: "Answer with this error" }),
  drop: z.boolean().default(false).meta({ description: "Close the connection instead of responding" }),
  /** With `after`, the request takes effect and only its response is lost, the case idempotency keys are made for. */
  when: z.enum(["before", "after"]).default("before").meta({ description: "Fail before the work, or after it is done" }),
  delayMs: z.int().min(0).max(120_000).default(0).meta({ description: "Wait this long (real time) first" }),
  skip: z.int().min(0).default(0).meta({ description: "Let this many matching requests through first" }),
  count: z.int().min(1).optional().meta({ description: "Apply to this many requests, then stop" }),
  rate: z.number().gt(0).max(1).default(1).meta({ description: "Share of matching requests to apply to, 0 to 1" }),
  seed: z.int().default(1).meta({ description: "Seed of the random numbers behind rate" }),
});

export const Fault = FaultRule.extend({ id: z.string(), matched: z.int(), hits: z.int() }).meta({ id: "Fault" });
export type Fault = z.infer<typeof Fault>;

export const faults = {
  list: endpoint({
    method: "GET",
    path: "/__dev/faults",
    access: "dev",
    summary: "List fault rules and how often each has been applied",
    output: z.object({ data: z.array(Fault) }),
    examples: [{ summary: "List" }],
  }),
  add: endpoint({
    method: "POST",
    path: "/__dev/faults",
    access: "dev",
    tool: "faults_add",
    summary: "Inject faults: any documented error, a delay or a closed connection",
    description: "The response header X-Mailsvc-Fault has the id of the rule that was applied.",
    body: FaultRule.refine((r) => r.code !== undefined || r.drop || r.delayMs > 0, {
      message: "Give code, drop or delayMs.",
      path: ["code"],
    }),
    status: 201,
    output: Fault,
    examples: [
      { summary: "Every tenth send fails", body: { method: "POST", path: "/api/v1/send", code: "queue_failed", rate: 0.1, seed: 7 } },
    ],
  }),
  clear: endpoint({
    method: "DELETE",
    path: "/__dev/faults",
    access: "dev",
    summary: "Remove all fault rules",
    output: z.object({ deleted: z.int() }),
    examples: [{ summary: "Clear" }],
  }),
};
