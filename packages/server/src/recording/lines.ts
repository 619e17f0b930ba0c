import * as z from "zod";

/** The version of the format. A line with an unknown kind is skipped, a file of a later version is refused. */
export const RECORDING_VERSION = 1;

const Text = z.string();
const Count = z.number();
const Time = z.string().max(40);
const Body = z.object({ text: Text, size: Count });
const Headers = z.record(Text, Text);
const Attempt = z.object({
  attempt: Count,
  at: Time,
  ms: Count,
  class: Text,
  httpStatus: Count.nullable(),
  message: Text.nullable(),
  hint: Text,
  answer: Text.nullable(),
});
const Delivered = z.object({ id: Text, type: Text, state: Text, body: Text.nullable(), log: z.array(Attempt) });
const Reached = z.object({ reached: z.array(Text).readonly(), never: z.array(Text).readonly() });

/** The lines of a recording, by their kind. `round` counts the resets before: each begins with an empty server. */
export const Line = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("recording"),
    version: z.literal(RECORDING_VERSION),
    mailsvc: Text,
    node: Text,
    platform: Text,
    command: z.array(Text),
    startedAt: Time,
  }),
  z.object({
    kind: z.literal("request"),
    at: Time,
    clock: Time,
    ms: Count,
    method: Text,
    path: Text,
    status: Count.nullable(),
    headers: Headers,
    body: Body,
    answerHeaders: Headers,
    answer: Body,
  }),
  /**
   * Reply to a client of SMTP: to a refused client, and to each message. `to` has only the recipient that was refused, if one
   * was; `size` is null where no message came.
   */
  z.object({ kind: z.literal("smtp"), at: Time, clock: Time, from: Text, to: z.array(Text), size: Count.nullable(), reply: Text }),
  z.object({ kind: z.literal("clock"), at: Time, action: Text, now: Time, mode: Text, fired: z.array(z.object({ at: Time, name: Text })) }),
  z.object({ kind: z.literal("fault"), at: Time, action: Text, rule: Text }),
  z.object({ kind: z.literal("log"), at: Time, level: Text, message: Text, facts: z.record(Text, z.unknown()) }),
  z.object({
    kind: z.literal("mail"),
    round: Count,
    id: Text,
    workspaceId: Text.nullable(),
    emailId: Text.nullable(),
    to: Text,
    from: Text,
    subject: Text,
    receivedAt: Time,
    size: Count,
    raw: Text,
  }),
  z.object({
    kind: z.literal("email"),
    round: Count,
    id: Text,
    workspaceId: Text,
    to: Text,
    from: Text,
    subject: Text,
    status: Text,
    createdAt: Time,
    attempts: Count,
    lastError: z.object({ message: Text }).nullable(),
    events: z.array(z.object({ type: Text, at: Time, data: z.record(Text, z.unknown()).nullish() })),
  }),
  z.object({
    kind: z.literal("event"),
    round: Count,
    id: Text,
    workspaceId: Text,
    type: Text,
    at: Time,
    data: z.record(Text, z.unknown()).nullish(),
  }),
  Delivered.extend({ kind: z.literal("delivery"), round: Count, receiver: Text }),
  z.object({
    kind: z.literal("explanation"),
    round: Count,
    id: Text,
    title: Text,
    status: Text,
    summary: Text,
    timeline: z.array(z.object({ at: Time, what: Text, why: Text.nullable() })),
    next: z.object({ at: Time.nullable(), what: Text }).nullable(),
    actions: z.array(z.object({ what: Text, command: Text.nullable() })),
  }),
  z.object({ kind: z.literal("reset"), round: Count, at: Time, what: Text }),
  z.object({
    kind: z.literal("coverage"),
    errorCodes: Reached,
    emailStates: Reached,
    emailTransitions: Reached,
    eventTypes: Reached,
    webhookEvents: Reached,
    agentEvents: Reached,
  }),
  z.object({ kind: z.literal("end"), at: Time, exitCode: Count, ms: Count, omitted: z.record(Text, Count) }),
]);
export type Line = z.infer<typeof Line>;
export type LineOf<Kind extends Line["kind"]> = Extract<Line, { kind: Kind }>;
