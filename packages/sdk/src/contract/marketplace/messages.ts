import { EmailAddress } from "../address.ts";
import { CAMPAIGN_LIMITS } from "../campaign-fields.ts";
import { endpoint } from "../endpoint.ts";
import { limits } from "../limits.ts";
import { line } from "../name.ts";
import { Instant, MAX_INTEGER, pageQuery, pageSchema } from "../page.ts";
import * as z from "../zod.ts";
import { PROPOSAL_ENDS, PROPOSAL_LIMITS, Proposal } from "./proposals.ts";
import { RunId } from "./runs.ts";
import { APPROVAL_STATUSES, MESSAGE_DIRECTIONS, MESSAGE_TYPES } from "./states.ts";
import { Slug, words } from "./text.ts";

export const MESSAGE_FORMATS = ["plain", "markdown"] as const;

export const APPROVAL_LIMITS = limits("approvals", "Approval requests of an agent", {
  options: [5, "options to choose from"],
  expiresInSeconds: [604_800, "time to answer, unless the agent says otherwise", "seconds"],
  minSeconds: [60, "time to answer, at least", "seconds"],
  maxSeconds: [2_592_000, "time to answer", "seconds"],
});

/** The options whose words and looks are the service's: what they say on the button, and what choosing them means. */
export const STANDARD_OPTIONS = {
  approve: { label: "Approve", style: "primary", status: "APPROVED", decision: "approved" },
  reject: { label: "Reject", style: "danger", status: "REJECTED", decision: "rejected" },
} as const;

/** The standard option with this id. */
export function findStandardOption(id: string): (typeof STANDARD_OPTIONS)[keyof typeof STANDARD_OPTIONS] | null {
  return id === "approve" || id === "reject" ? STANDARD_OPTIONS[id] : null;
}

/** Id of an option, and the decision that chooses it. */
export const OptionId = z
  .string()
  .regex(
    /^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/,
    "Use 1 to 64 lowercase letters, digits, - and _, starting and ending with a letter or digit.",
  );

const ApprovalOption = z.object({ id: z.string(), label: z.string(), style: z.enum(["primary", "danger"]).optional() });

const ApprovalPreview = z.object({
  kind: z.enum(["landing_page", "lead_magnet", "asset", "text"]),
  id: z.string().optional(),
  text: z.string().optional(),
});

/** The question of an APPROVAL_REQUEST, and its answer. */
export const Approval = z
  .object({
    title: z.string(),
    options: z.array(ApprovalOption),
    allowComment: z.boolean(),
    preview: ApprovalPreview.nullable(),
    /** The permission that approving gives the agent, in the service's words; null if it allows nothing by itself. */
    allows: z.string().nullable(),
    /** The campaign or template that is made when the request is approved. */
    proposal: Proposal.nullable(),
    /** All states except PENDING are final. ANSWERED: an option other than approve and reject was chosen. */
    status: z.enum(APPROVAL_STATUSES),
    /** `approved`, `rejected`, `expired`, or the id of the chosen option. */
    decision: z.string().nullable(),
    comment: z.string().nullable(),
    answeredAt: Instant.nullable(),
    expiresAt: Instant,
    /** True if the run waits for the answer. */
    suspendRun: z.boolean(),
  })
  .meta({ id: "Approval" });
export type Approval = z.infer<typeof Approval>;

export const Message = z
  .object({
    id: z.string(),
    /** Counts the messages of one activation from 1. */
    sequence: z.int(),
    activationId: z.string(),
    runId: z.string().nullable(),
    type: z.enum(MESSAGE_TYPES),
    /** Direction in the agent's view: `outbound` messages are from the agent, `inbound` ones are for it. */
    direction: z.enum(MESSAGE_DIRECTIONS),
    author: z.object({ role: z.enum(["agent", "brand", "system"]) }),
    text: z.string(),
    format: z.enum(MESSAGE_FORMATS),
    /** The agent's own id for it. */
    externalId: z.string().nullable(),
    /** Id of the message it replies to. */
    inReplyTo: z.string().nullable(),
    createdAt: Instant,
    /** Time its recipient read it. */
    readAt: Instant.nullable(),
    approval: Approval.nullable(),
  })
  .meta({ id: "Message" });
export type Message = z.infer<typeof Message>;

/** A message with its agent, for lists over several agents. */
export const AgentMessage = Message.extend({ agentSlug: z.string(), agentName: z.string() }).meta({ id: "AgentMessage" });
export type AgentMessage = z.infer<typeof AgentMessage>;

/** Filters of lists over all agents of a workspace. */
export const agentFilter = {
  activationId: z.string().max(100).optional().meta({ description: "Only messages of this activation" }),
  agentSlug: Slug.optional().meta({ description: "Only messages of this agent" }),
};

/** Filters of a list of messages. */
export const messageFilter = {
  type: z.enum(MESSAGE_TYPES).optional().meta({ description: "Only messages of this type" }),
  direction: z.enum(MESSAGE_DIRECTIONS).optional().meta({ description: "inbound: to the agent; outbound: from it" }),
  status: z.enum(APPROVAL_STATUSES).optional().meta({ description: "Only approval requests in this state" }),
  runId: RunId.optional().meta({ description: "Only messages of this run" }),
  since: Instant.optional().meta({ description: "Only messages from this time on" }),
  afterSequence: z.coerce
    .number()
    .int()
    .min(0)
    .max(MAX_INTEGER)
    .optional()
    .meta({ description: "Only messages after this sequence, oldest first; use it to poll for new messages" }),
};

export const Unread = z.object({ unread: z.int().meta({ description: "Number of unread messages left" }) });
export const upToSequence = z.int().min(0).max(MAX_INTEGER).meta({ description: "This message and all before it" });

const params = { id: "act_01jc3v2m9k8q4w6x0y5z7a1b2c" };
const ofMessage = { id: "msg_01jc3v2m9k8q4w6x0y5z7a1b2c" };
const write = { permission: "marketplace:write" } as const;
const read = { permission: "marketplace:read" } as const;

/** The conversation of a brand with its agents, for the brand. */
export const messages = {
  inbox: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/messages",
    access: read,
    summary: "List open requests and unread messages of all agents, newest first",
    description:
      "Pending approval requests, and texts that are neither read nor replied to. `pagination.total` is their number. Answering, replying or marking as read removes them.",
    query: z.object({
      ...pageQuery,
      type: z.enum(["TEXT", "APPROVAL_REQUEST"]).optional().meta({ description: "Only texts or only approval requests" }),
      ...agentFilter,
    }),
    output: pageSchema(AgentMessage),
    examples: [{ summary: "Everything" }, { summary: "From one agent", query: { agentSlug: "launch-writer" } }],
  }),
  list: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/activations/:id/messages",
    access: read,
    summary: "List the messages between you and an agent, newest first",
    query: z.object({ ...pageQuery, ...messageFilter }),
    output: pageSchema(Message),
    errors: ["not_found"],
    examples: [{ summary: "Pending requests", params, query: { status: "PENDING" } }],
  }),
  create: endpoint({
    method: "POST",
    path: "/api/v1/marketplace/activations/:id/messages",
    access: write,
    mailsTo: "unknown",
    summary: "Send a message to an agent",
    body: z.strictObject({
      text: words(10_000),
      format: z.enum(MESSAGE_FORMATS).default("plain").meta({ description: "How the text is written" }),
      inReplyTo: z.string().max(100).optional().meta({ description: "Id of the message it replies to, which is marked as read" }),
      runId: RunId.optional().meta({ description: "The run it is about" }),
    }),
    status: 201,
    output: Message,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "A text", params, body: { text: "Please mention the summer sale." } }],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/messages/:id",
    access: read,
    summary: "Show one message",
    output: Message,
    errors: ["not_found"],
    examples: [{ summary: "By id", params: ofMessage }],
  }),
  answer: endpoint({
    method: "POST",
    path: "/api/v1/marketplace/messages/:id/answer",
    access: write,
    // It may send a campaign.
    bucket: "send",
    mailsTo: "proposal",
    summary: "Answer an approval request",
    description:
      "The first answer counts. The agent gets an approval_response, and the run that waits for it continues. Approving a proposal creates what it proposes, with exactly the content that approvals.get shows, and needs the permission that creating it needs. A campaign is a draft, unless `create` is `send`.",
    body: z.strictObject({
      decision: OptionId.meta({ description: "Id of one of its options, such as approve or reject" }),
      comment: words(2000).optional().meta({ description: "For the agent; only if the request allows comments" }),
      hash: z.string().max(100).optional().meta({ description: "The hash of the proposal that you approve, as approvals.get shows it" }),
      create: z
        .enum(PROPOSAL_ENDS)
        .optional()
        .meta({ description: "Make the proposed campaign a draft, or send it at once; draft by default" }),
      fromEmail: EmailAddress.optional().meta({ description: "The verified sender of the proposed campaign" }),
      fromName: line(CAMPAIGN_LIMITS.fromName).optional().meta({ description: "Name of its sender" }),
      lists: z
        .array(z.string().min(1).max(100))
        .max(PROPOSAL_LIMITS.lists)
        .optional()
        .meta({ description: "Ids of the lists it goes to, instead of those that the agent suggests" }),
    }),
    output: Message,
    errors: ["not_found", "invalid_state", "forbidden", "conflict", "sender_not_verified", "template_error", "template_not_found"],
    examples: [
      { summary: "Approve", params: ofMessage, body: { decision: "approve", comment: "Nice." } },
      { summary: "Reject", params: ofMessage, body: { decision: "reject", comment: "Too early: ask again on Monday." } },
      {
        summary: "Send the proposed campaign",
        params: ofMessage,
        body: {
          decision: "approve",
          hash: "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU",
          create: "send",
          fromEmail: "news@acme.example",
        },
      },
    ],
  }),
  read: endpoint({
    method: "POST",
    path: "/api/v1/marketplace/activations/:id/messages/read",
    access: write,
    mailsTo: "nobody",
    summary: "Mark messages from an agent as read",
    body: z.strictObject({ upToSequence }),
    output: Unread,
    errors: ["not_found"],
    examples: [{ summary: "Up to the twelfth", params, body: { upToSequence: 12 } }],
  }),
};
