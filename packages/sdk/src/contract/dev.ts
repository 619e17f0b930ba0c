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

/** Steps of an SMTP conversation that can be made to fail, in their order. */
export const SMTP_STEPS = ["connect", "ehlo", "auth", "mail", "rcpt", "data", "end-of-data"] as const;
export type SmtpStep = (typeof SMTP_STEPS)[number];

export const FaultRule = z.strictObject({
  smtp: z.enum(SMTP_STEPS).optional().meta({ description: "Fail this step of SMTP conversations instead of requests" }),
  on: z.enum(["submission", "delivery"]).optional().meta({
    description: "With smtp: mail that programs submit to this server over SMTP (the default), or mail that it hands over for delivery",
  }),
  address: z.string().min(1).max(320).optional().meta({
    description: "With smtp: only this recipient, sender (mail) or user name (auth); * matches anything, e.g. *@example.com",
  }),
  method: z.enum(["GET", "POST", "PATCH", "DELETE"]).optional().meta({ description: "Only this method" }),
  path: z
    .string()
    .startsWith("/", "A path begins with /.")
    .max(200)
    .default("/*")
    .meta({ description: "Path; * matches anything, e.g. /api/v1/emails/*" }),
  code: z
    .union([z.enum(ERROR_CODES), z.int().min(400).max(599)])
    .optional()
    .meta({ description: "Answer with this error; with smtp, a reply code such as 452" }),
  enhancedCode: z
    .string()
    .regex(/^[45]\.\d{1,3}\.\d{1,3}$/, "Write an enhanced status code such as 4.2.2.")
    .optional()
    .meta({ description: "With smtp: enhanced status code of the reply, e.g. 4.2.2 (default: the usual one of the code)" }),
  text: z
    .string()
    .regex(/^[\x20-\x7e]{1,400}$/, "1 to 400 characters of ASCII in one line are needed.")
    .optional()
    .meta({ description: "With smtp: text of the reply" }),
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

/** The fields of a rule that do not go together. */
function findConflicts(rule: z.infer<typeof FaultRule>): { readonly path: string; readonly message: string }[] {
  const { smtp, on, address, method, path, code, enhancedCode, text, drop, when, delayMs } = rule;
  const found: { path: string; message: string }[] = [];
  const refuse = (isWrong: boolean, field: string, message: string): void => {
    if (isWrong) found.push({ path: field, message });
  };
  refuse(code === undefined && !drop && delayMs === 0, "code", "Give code, drop or delayMs.");
  if (smtp === undefined) {
    refuse(typeof code === "number", "code", "A reply code needs smtp; a request fails with the code of an error, such as queue_failed.");
    for (const [field, value] of Object.entries({ on, address, enhancedCode, text }))
      refuse(value !== undefined, field, `${field} needs smtp.`);
    return found;
  }
  refuse(typeof code === "string", "code", "With smtp, give the code of a reply, such as 452 or 550.");
  refuse(method !== undefined, "method", "A step of SMTP has no method.");
  refuse(path !== "/*", "path", "A step of SMTP has no path; address picks conversations.");
  refuse(when === "after" && (smtp !== "end-of-data" || on === "delivery"), "when", "after needs smtp end-of-data of submitted mail.");
  refuse(
    address !== undefined && on !== "delivery" && (smtp === "connect" || smtp === "ehlo"),
    "address",
    `No address is known at ${smtp}.`,
  );
  refuse((enhancedCode !== undefined || text !== undefined) && typeof code !== "number", "code", "enhancedCode and text need a code.");
  refuse(
    typeof code === "number" && enhancedCode !== undefined && enhancedCode[0] !== String(code)[0],
    "enhancedCode",
    `Begin it with ${String(code)[0]}, as the code.`,
  );
  return found;
}

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
    summary: "Inject faults: any documented error, a delay or a closed connection; over SMTP any reply",
    description:
      "The response header X-Mailsvc-Fault has the id of the rule that was applied. With smtp, steps of SMTP conversations fail: those of programs with this server, or with `on` delivery those of this server with the mail server behind it, so that deferrals, retries and bounces follow.",
    body: FaultRule.superRefine((rule, ctx) => {
      for (const { path, message } of findConflicts(rule)) ctx.addIssue({ code: "custom", path: [path], message });
    }),
    status: 201,
    output: Fault,
    examples: [
      { summary: "Every tenth send fails", body: { method: "POST", path: "/api/v1/send", code: "queue_failed", rate: 0.1, seed: 7 } },
      { summary: "A recipient's mailbox is full, twice", body: { smtp: "rcpt", address: "ada@example.com", code: 452, count: 2 } },
      { summary: "The mail server behind this one is away", body: { smtp: "connect", on: "delivery", drop: true, count: 1 } },
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
