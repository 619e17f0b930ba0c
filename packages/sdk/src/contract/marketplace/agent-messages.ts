import { endpoint } from "../endpoint.ts";
import { pageQuery, pageSchema } from "../page.ts";
import * as z from "../zod.ts";
import { AGENT_BASE } from "./agent-base.ts";
import {
  APPROVAL_LIMITS,
  findStandardOption,
  MESSAGE_FORMATS,
  Message,
  messageFilter,
  OptionId,
  STANDARD_OPTIONS,
  Unread,
  upToSequence,
} from "./messages.ts";
import { NewProposal } from "./proposals.ts";
import { RunId } from "./runs.ts";
import { foldLine, line, plainLine, words } from "./text.ts";

// Decisions in an approval_response that are not ids of options.
const RESERVED_DECISIONS: readonly string[] = [...Object.values(STANDARD_OPTIONS).map(({ decision }) => decision), "expired"];

const OwnId = OptionId.refine((id) => !RESERVED_DECISIONS.includes(id), {
  message: `An option's id cannot be ${RESERVED_DECISIONS.join(", ")}: these are reserved for decisions.`,
  params: { code: "reserved" },
});

const STANDARD_LABELS: readonly string[] = Object.values(STANDARD_OPTIONS).map(({ label }) => foldLine(label));

const Option = z
  .strictObject({
    id: OwnId,
    label: plainLine(60).optional().meta({ description: "The words on the button; those of approve and reject are the service's" }),
    style: z.enum(["primary", "danger"]).optional(),
  })
  .superRefine(({ id, label, style }, ctx) => {
    const refuse = (field: string, code: string, message: string) =>
      ctx.addIssue({ code: "custom", path: [field], message, params: { code } });
    const standard = findStandardOption(id);
    if (standard === null && label === undefined) refuse("label", "required", "An option of your own requires a label.");
    if (standard === null && label !== undefined && STANDARD_LABELS.includes(foldLine(label)))
      refuse("label", "reserved", `The label ${label} belongs to the option ${foldLine(label)}.`);
    if (standard !== null && label !== undefined && label !== standard.label)
      refuse(
        "label",
        "reserved",
        `The label of the option ${id} is ${standard.label}. Leave it out, or use an option with an id of your own.`,
      );
    if (standard !== null && style !== undefined && style !== standard.style)
      refuse("style", "reserved", `The style of the option ${id} is ${standard.style}. Leave it out.`);
  });

const areDistinct = (values: readonly string[]) => new Set(values).size === values.length;

const named = z.strictObject({ kind: z.enum(["landing_page", "lead_magnet", "asset"]), id: z.string().min(1).max(100) });
const written = z.strictObject({ kind: z.literal("text"), text: words(10_000) });

const Question = z.strictObject({
  title: line(200),
  options: z
    .array(Option)
    .min(2)
    .max(APPROVAL_LIMITS.options)
    .refine((options) => areDistinct(options.map(({ id }) => id)), {
      message: "The ids of the options must differ.",
      params: { code: "duplicate" },
    })
    .refine((options) => areDistinct(options.flatMap(({ label }) => (label === undefined ? [] : [foldLine(label)]))), {
      message: "The labels of the options must differ.",
      params: { code: "duplicate" },
    })
    .default([{ id: "approve" }, { id: "reject" }])
    .meta({ description: "The options of the brand; approve and reject by default, whose labels and styles are the service's" }),
  allowComment: z.boolean().default(true),
  preview: z.discriminatedUnion("kind", [named, written]).optional().meta({ description: "What the request is about" }),
  proposal: NewProposal.optional().meta({
    description: "A campaign or template to create when the brand approves; without preview and options of your own",
  }),
  expiresInSeconds: z
    .int()
    .min(APPROVAL_LIMITS.minSeconds)
    .max(APPROVAL_LIMITS.maxSeconds)
    .default(APPROVAL_LIMITS.expiresInSeconds)
    .meta({ description: "Expires after this many seconds without an answer; a week by default" }),
  suspendRun: z
    .boolean()
    .default(true)
    .meta({ description: "The run is WAITING until the answer and needs no heartbeat; with false it goes on and must log" }),
});

const Post = z
  .strictObject({
    type: z.enum(["TEXT", "APPROVAL_REQUEST"]).default("TEXT").meta({ description: "A text, or a request for approval" }),
    text: words(10_000),
    format: z.enum(MESSAGE_FORMATS).default("plain").meta({ description: "How the text is written" }),
    runId: RunId.optional().meta({ description: "The run it belongs to" }),
    externalId: line(128).optional().meta({ description: "Your own id for the message, unique per activation" }),
    approval: Question.optional().meta({ description: "The question of an APPROVAL_REQUEST" }),
  })
  .superRefine(({ type, approval }, ctx) => {
    const refuse = (field: "options" | "preview", message: string): void =>
      ctx.addIssue({ code: "custom", path: ["approval", field], message, params: { code: "not_allowed" } });
    if (approval?.proposal && approval.preview) refuse("preview", "A proposal is what is shown. Leave preview out.");
    if (approval?.proposal && approval.options.map(({ id }) => id).join() !== "approve,reject")
      refuse("options", "A proposal has the options approve and reject. Leave options out.");
    if (type === "APPROVAL_REQUEST" && !approval)
      ctx.addIssue({ code: "custom", path: ["approval"], message: "An APPROVAL_REQUEST requires approval.", params: { code: "required" } });
    if (type === "TEXT" && approval)
      ctx.addIssue({
        code: "custom",
        path: ["approval"],
        message: "Only an APPROVAL_REQUEST can have approval. Set type to APPROVAL_REQUEST.",
        params: { code: "not_allowed" },
      });
  });

const params = { activationId: "act_01jc3v2m9k8q4w6x0y5z7a1b2c" };
const ofMessage = { ...params, messageId: "msg_01jc3v2m9k8q4w6x0y5z7a1b2c" };
const read = { scope: "agent:read_messages" } as const;
const post = { scope: "agent:post_messages" } as const;

/** The messages of an activation, for its agent. */
export const agentMessages = {
  list: endpoint({
    method: "GET",
    path: `${AGENT_BASE}/messages`,
    access: read,
    summary: "List the messages of the activation, newest first",
    description: "With `afterSequence`, oldest first: repeat the request with the last sequence you saw to get every new message.",
    query: z.object({ ...pageQuery, ...messageFilter }),
    output: pageSchema(Message),
    errors: ["not_found"],
    examples: [{ summary: "New messages from the brand", params, query: { direction: "inbound", afterSequence: 12 } }],
  }),
  get: endpoint({
    method: "GET",
    path: `${AGENT_BASE}/messages/:messageId`,
    access: read,
    summary: "Show one message",
    output: Message,
    errors: ["not_found"],
    examples: [{ summary: "By id", params: ofMessage }],
  }),
  create: endpoint({
    method: "POST",
    path: `${AGENT_BASE}/messages`,
    access: post,
    summary: "Post a message, or ask for an approval",
    agentBucket: "message",
    description:
      "At most 20 a minute. The answer to an APPROVAL_REQUEST arrives as an approval_response event and as a message. The run that asks is WAITING until then, and RUNNING after the answer. Repeating a request with the same externalId returns the posted message, with 200.",
    body: Post,
    status: [201, 200],
    output: Message,
    errors: ["not_found", "id_reused", "invalid_state"],
    examples: [
      { summary: "A text", params, body: { text: "The first draft is ready." } },
      {
        summary: "An approval request",
        params,
        body: { type: "APPROVAL_REQUEST", text: "I would publish it today.", approval: { title: "Publish the launch page?" } },
      },
      {
        summary: "A campaign that the brand may send",
        params,
        body: {
          type: "APPROVAL_REQUEST",
          text: "A greeting to your readers.",
          approval: {
            title: "Send the greeting?",
            proposal: { kind: "campaign", name: "Greeting", subject: "Hello {{firstName}}", html: "<p>Good to have you here.</p>" },
          },
        },
      },
    ],
  }),
  cancel: endpoint({
    method: "POST",
    path: `${AGENT_BASE}/messages/:messageId/cancel`,
    access: post,
    summary: "Cancel an approval request",
    description: "Cancelling it again changes nothing.",
    body: z.strictObject({}),
    output: Message,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "Cancel", params: ofMessage, body: {} }],
  }),
  read: endpoint({
    method: "POST",
    path: `${AGENT_BASE}/messages/read`,
    access: read,
    summary: "Mark messages from the brand as read",
    body: z.strictObject({ upToSequence }),
    output: Unread,
    errors: ["not_found"],
    examples: [{ summary: "Up to the twelfth", params, body: { upToSequence: 12 } }],
  }),
};
