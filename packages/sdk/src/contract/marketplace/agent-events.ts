import { Instant } from "../page.ts";
import { AGENT_SCOPES } from "../scopes.ts";
import * as z from "../zod.ts";
import { MESSAGE_FORMATS } from "./messages.ts";
import { SettingsValues } from "./settings.ts";
import { DEACTIVATION_REASONS, PAUSE_REASONS } from "./states.ts";

/**
 * The fields of every event. The bytes of an event are the same on every attempt and redelivery. Fields may be added
 * later; receivers must ignore unknown ones.
 */
const envelope = {
  /** Identifies the event; the same on every attempt. */
  id: z.string(),
  activationId: z.string(),
  runId: z.string().nullable(),
  /** Counts the events of an activation from 1. An event must not undo one with a higher sequence. */
  sequence: z.int().min(0),
  /** Time of the state change, not of sending; strictly increasing per activation. */
  timestamp: Instant,
};
type Envelope = typeof envelope;

/** A type of event: what it says, and how it is delivered. */
export interface AgentEventKind {
  /** Occasion of sending it, in Markdown, as the end of "Sent when …". */
  readonly when: string;
  /** Fields it adds to the envelope, or narrows. */
  readonly fields: z.ZodRawShape;
  /**
   * The fields that identify an occurrence, so that a receiver recognizes a repeat. Types that occur once per activation, or once per
   * run, are identified by type, activation and run; all others recur and are identified by `id`.
   */
  readonly key: readonly (keyof Envelope | "type")[];
  /** True if the activation is paused when every attempt to deliver it failed. */
  readonly pausesOnFailure: boolean;
  /** True if it is held back while its activation is paused. */
  readonly held: boolean;
  /** True if it tells the agent to work or to stop: a newer one of these types supersedes an older one. */
  readonly isStatus: boolean;
  /** Plausible events, one for each reason or decision it knows: their fields, and those of the envelope that matter. */
  readonly samples: readonly object[];
}

const SAMPLE_INSTANT = "2026-01-01T12:00:00.000Z";

/** The `activationId` of every test.ping. */
export const TEST_ACTIVATION = "act_test";

/** All types of events for agents. Schemas, lists, the agent kit's types and samples, and the table in the docs follow from this. */
export const AGENT_EVENTS = {
  "agent.activated": {
    when: "a brand turned the agent on",
    fields: {
      /** The key of this activation. No other event or endpoint contains it. */
      apiKey: z.string(),
      agentSlug: z.string(),
      organizationName: z.string(),
      scopes: z.array(z.enum(AGENT_SCOPES)),
      /** Values the brand has set, and the defaults of the rest. */
      settings: SettingsValues,
    },
    key: ["type", "activationId"],
    pausesOnFailure: true,
    held: false,
    isStatus: false,
    samples: [
      {
        apiKey: "ms_agent_sample_key",
        agentSlug: "sample-agent",
        organizationName: "Sample Brand",
        scopes: ["agent:write_runs", "agent:post_messages", "agent:read_messages"],
        settings: {},
      },
    ],
  },
  approval_response: {
    when: "an approval request was answered or expired",
    fields: {
      messageId: z.string(),
      /** `approved`, `rejected`, `expired`, or the id of the chosen option. */
      decision: z.string(),
      comment: z.string().nullable(),
      answeredAt: Instant,
    },
    key: ["id"],
    pausesOnFailure: true,
    held: true,
    isStatus: false,
    samples: ["approved", "rejected", "expired", "an-option"].map((decision) => ({
      runId: "run_sample",
      messageId: "msg_sample",
      decision,
      comment: null,
      answeredAt: SAMPLE_INSTANT,
    })),
  },
  "message.posted": {
    when: "the brand sent the agent a text; needs `agent:read_messages`",
    fields: {
      messageId: z.string(),
      /** The message's position in the conversation; see `afterSequence` of the list of messages. */
      messageSequence: z.int(),
      text: z.string(),
      format: z.enum(MESSAGE_FORMATS),
      /** Id of the message it replies to. */
      inReplyTo: z.string().nullable(),
    },
    key: ["id"],
    pausesOnFailure: true,
    held: true,
    isStatus: false,
    samples: [{ messageId: "msg_sample", messageSequence: 1, text: "Für dich ✉", format: "plain", inReplyTo: null }],
  },
  "agent.paused": {
    when: "stop calling until `agent.resumed`",
    fields: { reason: z.enum(PAUSE_REASONS) },
    key: ["id"],
    pausesOnFailure: false,
    held: false,
    isStatus: true,
    samples: PAUSE_REASONS.map((reason) => ({ reason })),
  },
  "agent.resumed": {
    when: "the same key works again",
    fields: {},
    key: ["id"],
    pausesOnFailure: true,
    held: false,
    isStatus: true,
    samples: [{}],
  },
  "agent.deactivated": {
    when: "the key never works again",
    fields: { reason: z.enum(DEACTIVATION_REASONS) },
    key: ["type", "activationId"],
    pausesOnFailure: false,
    held: false,
    isStatus: false,
    samples: DEACTIVATION_REASONS.map((reason) => ({ reason })),
  },
  "agent.scopes_changed": {
    when: "the brand accepted more scopes",
    fields: {
      /** All that it may do now. */
      scopes: z.array(z.enum(AGENT_SCOPES)),
      /** The new ones among them. */
      added: z.array(z.enum(AGENT_SCOPES)),
    },
    key: ["id"],
    pausesOnFailure: false,
    held: true,
    isStatus: false,
    samples: [{ scopes: ["agent:write_runs", "agent:post_messages"], added: ["agent:post_messages"] }],
  },
  "agent.settings_changed": {
    when: "the brand changed the settings",
    fields: { settings: SettingsValues },
    key: ["id"],
    pausesOnFailure: false,
    held: true,
    isStatus: false,
    samples: [{ settings: { language: "de", posts: 3, drafts: true } }],
  },
  run_force_failed: {
    when: "a run went 15 minutes without a heartbeat",
    fields: { runId: z.string(), lastHeartbeatAt: Instant },
    key: ["type", "activationId", "runId"],
    pausesOnFailure: true,
    held: false,
    isStatus: false,
    samples: [{ runId: "run_sample", lastHeartbeatAt: SAMPLE_INSTANT }],
  },
  "test.ping": {
    when: "the builder tests the webhook",
    fields: { test: z.literal(true) },
    key: ["id"],
    pausesOnFailure: false,
    held: false,
    isStatus: false,
    samples: [{ activationId: TEST_ACTIVATION, test: true }],
  },
  "agent.wakeup": {
    when: "a wakeup fired",
    fields: { wakeupId: z.string(), reason: z.string(), payload: z.unknown(), scheduledFor: Instant },
    key: ["id"],
    pausesOnFailure: true,
    // Its wakeup stays SCHEDULED while the activation is paused, so there is no event to keep back.
    held: false,
    isStatus: false,
    samples: [{ wakeupId: "wku_sample", reason: "Look at the numbers", payload: null, scheduledFor: SAMPLE_INSTANT }],
  },
} as const satisfies Record<string, AgentEventKind>;

export type AgentEventType = keyof typeof AGENT_EVENTS;

export const AGENT_EVENT_TYPES = Object.keys(AGENT_EVENTS) as AgentEventType[];

type SchemaOf<T extends AgentEventType, F> = z.ZodObject<Omit<Envelope, keyof F> & { type: z.ZodLiteral<T> } & F>;
type AgentEventSchema = { [T in AgentEventType]: SchemaOf<T, (typeof AGENT_EVENTS)[T]["fields"]> }[AgentEventType];

/** An event as POSTed to a builder's webhook. */
export const AgentEvent = z.discriminatedUnion(
  "type",
  AGENT_EVENT_TYPES.map((type) =>
    z.object({ ...envelope, type: z.literal(type), ...AGENT_EVENTS[type].fields }),
  ) as readonly AgentEventSchema[] as readonly [AgentEventSchema, ...AgentEventSchema[]],
);
export type AgentEvent = z.infer<typeof AgentEvent>;

/** True if a text is a type of event for agents. */
export function isAgentEventType(type: string): type is AgentEventType {
  return Object.hasOwn(AGENT_EVENTS, type);
}
