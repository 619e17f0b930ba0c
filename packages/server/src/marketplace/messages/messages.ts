import {
  type Approval,
  findStandardOption,
  type Message,
  type NewProposal,
  type ProposalDetail,
  type ProposalEnd,
  type ProposedBy,
} from "@mailsvc/sdk/contract";
import { and, asc, count, eq, inArray, isNull, lte } from "drizzle-orm";
import type { Db, Reader, Tx } from "../../db/db.ts";
import { ApiError } from "../../lib/api-error.ts";
import { isSameJson } from "../../lib/json.ts";
import type { Queue } from "../../queue/queue.ts";
import { assertNotEnded, getActivation, grantedScopes } from "../activations/activations.ts";
import type { AgentDeps, AgentQuery, AgentTx } from "../agent-access.ts";
import { emit, replaceTextInEvents } from "../agent-webhooks/agent-webhooks.ts";
import { findFileRow } from "../files/files.ts";
import { type Actor, getActiveRunRow, getRunRow, type RunRow, suspendRun } from "../runs/runs.ts";
import { EXPIRE_APPROVAL_JOB } from "./approvals.ts";
import { storeProposal, summarize } from "./proposals.ts";
import {
  type ApprovalRow,
  addMessage,
  getMessage,
  type MessageRow,
  type MessageWithApproval,
  markReadByReply,
  showMessage,
} from "./store.ts";

type Option = Approval["options"][number];

type NewApproval = Pick<Approval, "title" | "allowComment" | "suspendRun"> & {
  options: readonly (Pick<Option, "id" | "style"> & { label?: string | undefined })[];
  preview?: NonNullable<Approval["preview"]> | undefined;
  proposal?: NewProposal | undefined;
  expiresInSeconds: number;
};

interface NewAgentMessage {
  type: "TEXT" | "APPROVAL_REQUEST";
  text: string;
  format: Message["format"];
  runId?: string | undefined;
  externalId?: string | undefined;
  approval?: NewApproval | undefined;
}

/**
 * Posts an agent's message. An approval request with `suspendRun` makes its run WAITING. A repeat with the same externalId
 * returns the posted message, with `created` false. Throws ApiError not_found for an unknown run, preview or list, invalid_state for
 * an approval request of an ended run, and id_reused for an externalId of another message.
 */
export async function postMessage(
  tx: AgentTx,
  deps: AgentDeps,
  { activationId, workspaceId }: Actor,
  post: NewAgentMessage,
): Promise<{ message: Message; created: boolean }> {
  const now = deps.clock.now();
  const overdue = deps.runClock.overdue();
  const { approval: request, runId = null } = post;
  const posted = await findPosted(tx, activationId, post);
  if (posted) return { message: showMessage(posted, now), created: false };
  const pageToPublish = await readPreview(tx, { activationId, workspaceId }, request?.preview);
  let run: RunRow | null = null;
  if (runId !== null) run = await (request ? getActiveRunRow : getRunRow)(tx, { activationId, runId }, overdue);
  const message = await addMessage(tx, {
    id: deps.ids("msg"),
    activationId,
    workspaceId,
    runId,
    type: post.type,
    direction: "outbound",
    author: "agent",
    text: post.text,
    format: post.format,
    externalId: post.externalId ?? null,
    createdAt: now,
  });
  if (!request) return { message: showMessage({ message, approval: null }, now), created: true };
  const expiresAt = now + request.expiresInSeconds * 1000;
  const approval: ApprovalRow = {
    messageId: message.id,
    activationId,
    workspaceId,
    runId,
    title: request.title,
    options: completeOptions(request),
    allowComment: request.allowComment,
    preview: request.preview ?? null,
    allows: pageToPublish !== null && request.options.some(({ id }) => id === "approve") ? sayPublish(pageToPublish) : null,
    proposal: request.proposal ? summarize(request.proposal) : null,
    suspendRun: run !== null && request.suspendRun,
    status: "PENDING",
    decision: null,
    comment: null,
    answeredAt: null,
    expiresAt,
  };
  await tx.insert(tx.t.approvals).values(approval);
  if (request.proposal) await storeProposal(tx, message, request.proposal);
  if (run && approval.suspendRun) await suspendRun(tx, deps, run, { waitingFor: "approval", waitingOn: message.id, deadlineAt: expiresAt });
  await deps.queue.enqueue(tx, { kind: EXPIRE_APPROVAL_JOB, payload: { workspaceId, messageId: message.id }, runAt: expiresAt });
  return { message: showMessage({ message, approval }, now), created: true };
}

interface NewBrandMessage {
  text: string;
  format: Message["format"];
  inReplyTo?: string | undefined;
  runId?: string | undefined;
  /** The received mail whose text it is. */
  receivedId?: string | undefined;
}

/**
 * Posts a brand's message to an agent, with an event message.posted. Throws ApiError not_found for an unknown activation, run or message,
 * and invalid_state for a deactivated one, or for passing mail on to an agent that may not read messages.
 */
export async function writeToAgent(
  tx: AgentTx,
  deps: AgentDeps,
  workspaceId: string,
  id: string,
  wanted: NewBrandMessage,
): Promise<Message> {
  const now = deps.clock.now();
  const found = await getActivation(tx, workspaceId, id);
  assertNotEnded(found, now);
  const mayRead = grantedScopes(found.activation, found.listing).includes("agent:read_messages");
  if (wanted.receivedId !== undefined && !mayRead)
    throw new ApiError("invalid_state", `The agent ${found.listing.slug} may not read messages.`, {
      hint: "It did not ask for the scope agent:read_messages.",
    });
  const { inReplyTo = null, runId = null } = wanted;
  if (runId !== null) await getRunRow(tx, { activationId: id, runId }, deps.runClock.overdue());
  const original = inReplyTo === null ? null : (await getMessage(tx, { activationId: id }, inReplyTo)).message;
  const message = await addMessage(tx, {
    id: deps.ids("msg"),
    activationId: id,
    workspaceId,
    runId,
    type: "TEXT",
    direction: "inbound",
    author: "brand",
    text: wanted.text,
    format: wanted.format,
    inReplyTo,
    receivedId: wanted.receivedId ?? null,
    createdAt: now,
  });
  if (original) await markReadByReply(tx, original, now);
  // Only an agent that may read its messages gets their text.
  if (mayRead)
    await emit(tx, deps, id, {
      type: "message.posted",
      at: now,
      runId,
      fields: { messageId: message.id, messageSequence: message.sequence, text: message.text, format: message.format, inReplyTo },
    });
  return showMessage({ message, approval: null }, now);
}

/** The message that passes a received mail on to an activation; null while none does. `now` is in ms. */
export async function findPassedOn(tx: AgentTx, activationId: string, receivedId: string, now: number): Promise<Message | null> {
  const found = (await listPassedOn(tx, receivedId)).find((message) => message.activationId === activationId);
  return found ? showMessage({ message: found, approval: null }, now) : null;
}

/** The messages that pass a received mail on, oldest first. */
export async function listPassedOn(q: AgentQuery, receivedId: string): Promise<MessageRow[]> {
  const { messages: m } = q.t;
  return q.select().from(m).where(eq(m.receivedId, receivedId)).orderBy(asc(m.id));
}

/** Takes the text of received mails, which are deleted, out of the messages that pass them on, and out of the events about those. */
export async function withdrawPassedOn(tx: AgentTx, receivedIds: readonly string[]): Promise<void> {
  const { messages: m } = tx.t;
  const text = "(The mail that was passed on here is deleted.)";
  const taken = await tx
    .update(m)
    .set({ text, receivedId: null })
    .where(inArray(m.receivedId, [...receivedIds]))
    .returning({ id: m.id, activationId: m.activationId });
  for (const message of taken) await replaceTextInEvents(tx, message, text);
}

/** Marks messages of one direction as read up to a sequence, and returns how many remain unread. */
export async function markRead(
  tx: AgentTx,
  deps: AgentDeps,
  activationId: string,
  direction: Message["direction"],
  upToSequence: number,
): Promise<{ unread: number }> {
  const { messages: m } = tx.t;
  const unread = and(eq(m.activationId, activationId), eq(m.direction, direction), isNull(m.readAt));
  await tx
    .update(m)
    .set({ readAt: deps.clock.now() })
    .where(and(unread, lte(m.sequence, upToSequence)));
  const [left] = await tx.select({ n: count() }).from(m).where(unread);
  return { unread: left?.n ?? 0 };
}

/**
 * The message a request has posted before; null for a new one. Throws ApiError id_reused when its externalId belongs to another message.
 */
async function findPosted(tx: AgentTx, activationId: string, post: NewAgentMessage): Promise<MessageWithApproval | null> {
  const { externalId } = post;
  if (externalId === undefined) return null;
  const { messages: m, approvals: p } = tx.t;
  const [found] = await tx
    .select({ message: m, approval: p })
    .from(m)
    .leftJoin(p, eq(p.messageId, m.id))
    .where(and(eq(m.activationId, activationId), eq(m.externalId, externalId)));
  if (!found) return null;
  if (isRepeat(found, post)) return found;
  throw new ApiError("id_reused", "Another message with this externalId exists already.", {
    details: [{ path: "externalId", code: "duplicate_external_id", message: found.message.id }],
    hint: "details[0].message is the id of that message. Use another externalId.",
  });
}

/** True if a request repeats the one that posted a message. */
function isRepeat({ message, approval }: MessageWithApproval, post: NewAgentMessage): boolean {
  const { type, text, format, runId = null, approval: wanted } = post;
  return isSameJson(
    [
      { type, text, format, runId },
      wanted && {
        title: wanted.title,
        options: completeOptions(wanted),
        allowComment: wanted.allowComment,
        preview: wanted.preview ?? null,
        proposal: wanted.proposal ? summarize(wanted.proposal).hash : null,
        suspendRun: wanted.suspendRun && runId !== null,
        expiresAt: message.createdAt + wanted.expiresInSeconds * 1000,
      },
    ],
    [
      { type: message.type, text: message.text, format: message.format, runId: message.runId },
      approval && {
        title: approval.title,
        options: approval.options,
        allowComment: approval.allowComment,
        preview: approval.preview,
        proposal: approval.proposal?.hash ?? null,
        suspendRun: approval.suspendRun,
        expiresAt: approval.expiresAt,
      },
    ],
  );
}

/** The options of a request, with the service's words and looks on those of the service. */
function completeOptions({ options }: NewApproval): Option[] {
  return options.map(({ id, label = "", style }) => {
    const standard = findStandardOption(id);
    if (standard !== null) return { id, label: standard.label, style: standard.style };
    return { id, label, ...(style !== undefined && { style }) };
  });
}

interface PageToPublish {
  readonly slug: string;
  readonly title: string;
}

/**
 * The permission that approving a page gives. The title that the agent has chosen comes last and between quotation marks, which
 * it cannot contain.
 */
function sayPublish({ slug, title }: PageToPublish): string {
  const quoted = title.replace(/\p{Default_Ignorable_Code_Point}/gu, "").replace(/["\u201c-\u201f\u00ab\u00bb]/g, "'");
  return `Publish the page ${slug} as it is now: “${quoted}”`;
}

/**
 * Returns the page that a preview shows; null if it shows something else. Throws ApiError not_found unless the agent may show it: its own
 * page, its own lead magnet or of the brand's people, or an image of the asset library, which all agents of a brand share.
 */
async function readPreview(
  tx: AgentTx,
  { activationId, workspaceId }: Actor,
  preview: Approval["preview"] | undefined,
): Promise<PageToPublish | null> {
  if (!preview || preview.kind === "text") return null;
  const { landingPages: l } = tx.t;
  const id = preview.id ?? "";
  if (preview.kind === "landing_page") {
    const [page] = await tx
      .select({ slug: l.slug, title: l.title })
      .from(l)
      .where(and(eq(l.id, id), eq(l.workspaceId, workspaceId), eq(l.activationId, activationId)));
    if (page) return page;
  }
  const file = {
    landing_page: async () => null,
    lead_magnet: async () => findFileRow(tx, "leadMagnets", workspaceId, id),
    asset: async () => findFileRow(tx, "assets", workspaceId, id),
  }[preview.kind];
  const found = await file();
  if (found && (preview.kind === "asset" || found.activationId === null || found.activationId === activationId)) return null;
  throw new ApiError("not_found", `The ${preview.kind.replace("_", " ")} in approval.preview was not found.`, {
    details: [{ path: "approval.preview.id", code: "not_found", message: "Not found." }],
  });
}

/** Decisions about a proposal besides approving it. */
export interface ProposalChoice {
  readonly create: ProposalEnd;
  /** Required for a campaign. */
  readonly fromEmail: string | null;
  readonly fromName: string | null;
  /** The lists it goes to. */
  readonly lists: readonly string[];
}

/** Hooks for proposals: the modules of campaigns, lists, senders and templates decide on them, connected by `features.ts`. */
export interface ProposalHooks {
  /** The mail as a reader without a name sees it, or why it cannot be rendered. */
  render(read: Reader, workspaceId: string, proposal: NewProposal): Promise<Pick<ProposalDetail, "rendered" | "renderError">>;
  /** The lists that exist, and how many subscribed contacts they have together. */
  countReach(read: Reader, workspaceId: string, lists: readonly string[]): Promise<Pick<ProposalDetail, "suggestedLists" | "reach">>;
  /** The sender that a person would most likely choose; null if that is open. */
  suggestSender(read: Reader, workspaceId: string): Promise<ProposalDetail["suggestedSender"]>;
  /** Prepares `create`, outside of a transaction: selects the audience of a campaign that is sent at once. */
  prepare(read: Reader, workspaceId: string, proposal: NewProposal, choice: ProposalChoice): Promise<unknown>;
  /** Creates the campaign or template, and starts the campaign if that is wanted. Throws ApiError when it is not allowed. */
  create(
    tx: Tx,
    workspaceId: string,
    given: { readonly proposal: NewProposal; readonly choice: ProposalChoice; readonly prepared: unknown; readonly by: ProposedBy },
  ): Promise<NonNullable<ProposalDetail["created"]>>;
}

export interface MessageDeps extends AgentDeps {
  readonly db: Db;
  readonly queue: Queue;
  readonly proposalHooks: ProposalHooks;
}
