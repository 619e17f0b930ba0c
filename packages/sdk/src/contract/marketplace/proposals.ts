import { limits } from "../limits.ts";
import { line } from "../name.ts";
import { Content, Subject } from "../send-fields.ts";
import * as z from "../zod.ts";
import { line as visibleLine } from "./text.ts";

export const PROPOSAL_LIMITS = limits("messages", "Proposals of agents", {
  name: [200, "a name", "characters"],
  previewText: [200, "the preview text", "characters"],
  html: [262_144, "the HTML", "characters"],
  text: [65_536, "the text", "characters"],
  lists: [20, "suggested lists"],
});

/** Ends of an approved campaign. */
export const PROPOSAL_ENDS = ["draft", "send"] as const;
export type ProposalEnd = (typeof PROPOSAL_ENDS)[number];

const PROPOSAL_KINDS = ["campaign", "template"] as const;

const content = {
  name: visibleLine(PROPOSAL_LIMITS.name),
  subject: Subject,
  html: Content.max(PROPOSAL_LIMITS.html).optional().meta({ description: "HTML body" }),
  text: Content.max(PROPOSAL_LIMITS.text).optional().meta({ description: "Plain-text body" }),
};

const campaign = z.strictObject({
  kind: z.literal("campaign"),
  ...content,
  previewText: line(PROPOSAL_LIMITS.previewText).optional(),
  lists: z
    .array(z.string().min(1).max(100))
    .max(PROPOSAL_LIMITS.lists)
    .refine((ids) => new Set(ids).size === ids.length, { message: "The ids of the lists must differ.", params: { code: "duplicate" } })
    .default([])
    .meta({ description: "Ids of the lists to suggest" }),
});

const template = z.strictObject({
  kind: z.literal("template"),
  ...content,
  type: z.enum(["marketing", "transactional"]).default("marketing"),
});

/** A campaign or a template that an agent proposes. The brand chooses the sender. */
export const NewProposal = z.discriminatedUnion("kind", [campaign, template]).superRefine(({ html, text }, ctx) => {
  if (html === undefined && text === undefined)
    ctx.addIssue({ code: "custom", path: ["html"], message: "A proposal needs html or text.", params: { code: "required" } });
});
export type NewProposal = z.infer<typeof NewProposal>;

/** A proposal of an approval request, without its content. */
export const Proposal = z
  .object({
    kind: z.enum(PROPOSAL_KINDS),
    name: z.string(),
    subject: z.string(),
    previewText: z.string().nullable(),
    /** The ids of the lists that the agent suggests. */
    lists: z.array(z.string()),
    /** A hash of all that is proposed. An answer that approves names it, so that what was seen is what is approved. */
    hash: z.string(),
  })
  .meta({ id: "Proposal" });
export type Proposal = z.infer<typeof Proposal>;

/** A proposal as a person sees it before answering. */
export const ProposalDetail = Proposal.extend({
  /** The sources, exactly as they are stored when it is approved. */
  html: z.string().nullable(),
  text: z.string().nullable(),
  /** The mail as a reader without a name sees it; null with `renderError` when it cannot be rendered. */
  rendered: z.object({ subject: z.string(), html: z.string().nullable(), text: z.string().nullable() }).nullable(),
  renderError: z.string().nullable(),
  /** The hosts that its links lead to, and those that it loads images and the like from, which thereby learn of each opening. */
  linksTo: z.array(z.string()),
  loadsFrom: z.array(z.string()),
  /** The suggested lists that still exist; null for a key that may not read campaigns. */
  suggestedLists: z.array(z.object({ id: z.string(), name: z.string(), memberCount: z.int() })).nullable(),
  /** The number of subscribed contacts whom a campaign to these lists would reach now; null without lists, and for a key that may not read campaigns. */
  reach: z.int().nullable(),
  /** A verified sender to send it from: that of the newest campaign, or the only one; null if there is none to suggest. */
  suggestedSender: z.object({ fromEmail: z.string(), fromName: z.string().nullable() }).nullable(),
  /** The campaign or template that was made of it; null unless it was approved. */
  created: z.object({ kind: z.enum(PROPOSAL_KINDS), id: z.string(), sent: z.boolean() }).nullable(),
}).meta({ id: "ProposalDetail" });
export type ProposalDetail = z.infer<typeof ProposalDetail>;
