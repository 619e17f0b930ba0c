import { type AgentReply, type Page, parseAnyMailbox } from "@mailsvc/sdk/contract";
import { eq } from "drizzle-orm";
import type { Reader } from "../../db/db.ts";
import { findRows } from "../../db/find.ts";
import { listPage, type PageInput } from "../../db/pagination.ts";
import { notFound } from "../../lib/api-error.ts";
import { iso } from "../../lib/clock.ts";
import { isTestMail } from "../../lib/test-mail.ts";
import { type Reply, splitAddresses, withoutAddresses } from "../../received/received.ts";
import type { ReceivedTables } from "../../received/tables.ts";
import { lockActivations } from "../activations/activations.ts";
import type { AgentDeps, AgentHandlers, AgentTables, AgentTx } from "../agent-access.ts";
import { emit } from "../agent-webhooks/agent-webhooks.ts";

type Row = ReceivedTables["agentReplies"]["$inferSelect"];

/** The tag by which the brand says for which activation it sends a mail. */
const TAG = "activation";

// More than people write. What is in a mail must not hold the server up, which reads these texts in a transaction.
const MAX_TEXT = 64 * 1024;

/** Replies to mail that was sent for an agent. */
export const agentReplyHandlers: AgentHandlers<"replies"> = {
  list: (input, { read, agent }) => listReplies(read, agent.activationId, input),
  get: async ({ activationId, id }, { read }) => {
    const [row] = await findRows(read, read.t.agentReplies, { id });
    if (row?.activationId !== activationId) throw notFound("reply", id);
    return showReply(row);
  },
};

/**
 * Shows a reply to the agent for which the answered mail was sent, if the brand has granted it that, with an event reply.received. The event
 * holds no text, so that erasing the person leaves none of it.
 */
export async function passToAgent(tx: AgentTx, deps: AgentDeps, { mail, email, contents }: Reply): Promise<void> {
  const activationId = contents.tags[TAG];
  if (activationId === undefined || isTestMail(email.id)) return;
  const { workspaceId, threadId } = mail;
  const [activation] = await findRows(tx, tx.t.activations, { workspaceId, id: activationId });
  if (!activation || activation.status === "deactivated" || !activation.scopes.includes("messages:replies")) return;
  const now = deps.clock.now();
  const id = deps.ids("rpl");
  const { to = [], cc = [] } = contents.addressees ?? {};
  const named = [...to, ...cc].map((text) => parseAnyMailbox(text).address);
  const addresses = [mail.to, email.to, mail.from ?? "", ...splitAddresses(mail.replyTo), ...named];
  const [subject, text] = [mail.subject, mail.reply].map((one) => withoutAddresses(cutText(one), mail.headers, addresses));
  await lockActivations(tx, [activationId]);
  await tx.insert(tx.t.agentReplies).values({
    id,
    activationId,
    receivedId: mail.id,
    threadId,
    subject: subject ?? "",
    text: text ?? "",
    receivedAt: mail.receivedAt,
  });
  await emit(tx, deps, activationId, { type: "reply.received", at: now, fields: { replyId: id, threadId } });
}

/** A text of at most MAX_TEXT characters, cut between two words: half an address would not be found. */
function cutText(text: string): string {
  if (text.length <= MAX_TEXT) return text;
  let end = MAX_TEXT;
  while (end > 0 && !/\s/.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

function listReplies(read: Reader<AgentTables>, activationId: string, input: PageInput): Promise<Page<AgentReply>> {
  const { agentReplies: t } = read.t;
  return listPage(read, input, { table: t, where: eq(t.activationId, activationId), toItem: showReply });
}

function showReply({ id, threadId, subject, text, receivedAt }: Row): AgentReply {
  return { id, threadId, subject, text, receivedAt: iso(receivedAt) };
}
