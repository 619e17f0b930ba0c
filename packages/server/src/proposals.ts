import { type NewProposal, type ProposalDetail, parseMailbox } from "@mailsvc/sdk/contract";
import { and, desc, eq, inArray, isNull } from "drizzle-orm";
import { createCampaign } from "./campaigns/drafts.ts";
import { assertRenders, compileContent, makeStranger, renderFor } from "./campaigns/preview.ts";
import { type Selection, selectAudience } from "./campaigns/selection.ts";
import { sendCampaign } from "./campaigns/start.ts";
import type { Reader, Tx } from "./db/db.ts";
import type { Deps } from "./deps.ts";
import { toPlainTextInTurns } from "./html/plain-text.ts";
import { ApiError } from "./lib/api-error.ts";
import type { ProposalChoice, ProposalHooks } from "./marketplace/messages/messages.ts";
import { isVerified } from "./senders/senders.ts";
import { toSlug } from "./templates/content.ts";
import { renderSources } from "./templates/sending.ts";
import { type Compiled, createTemplate, findTemplateBySlug, loadParser, type Parse, pinOwn } from "./templates/templates.ts";

type Campaign = Extract<NewProposal, { kind: "campaign" }>;
type Template = Extract<NewProposal, { kind: "template" }>;

/** Connects the proposals of agents with the modules that create the approved objects. */
export function connectProposals(deps: () => Deps): ProposalHooks {
  return {
    render: async (read, workspaceId, proposal) => {
      try {
        return { rendered: await renderProposal(read, workspaceId, proposal), renderError: null };
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        return { rendered: null, renderError: error.message };
      }
    },
    countReach: (read, workspaceId, lists) => countReach(read, deps(), workspaceId, lists),
    suggestSender: (read, workspaceId) => suggestSender(read, deps(), workspaceId),
    prepare: async (read, workspaceId, proposal, { create, lists }): Promise<Prepared> => {
      const parse = await loadParser();
      const sends = proposal.kind === "campaign" && create === "send";
      return { parse, audience: sends ? await selectFor(read, deps(), workspaceId, proposal, lists) : null };
    },
    create: async (tx, workspaceId, { proposal, choice, prepared, by }) => {
      const { parse, audience } = prepared as Prepared;
      if (proposal.kind === "template") {
        const input = await buildTemplate(tx, workspaceId, proposal, by.approvalId);
        const { id } = await createTemplate(tx, deps(), workspaceId, input, parse, by);
        return { kind: "template", id, sent: false };
      }
      const { id, revision } = await createCampaign(tx, deps(), workspaceId, buildCampaign(proposal, choice), parse, by);
      if (choice.create === "draft") return { kind: "campaign", id, sent: false };
      await sendCampaign(tx, deps(), workspaceId, { id, revision }, { parse, audience });
      return { kind: "campaign", id, sent: true };
    },
  };
}

interface Prepared {
  readonly parse: Parse;
  readonly audience: Selection | ApiError | null;
}

/** The mail as a reader without a name sees it. Throws ApiError when it cannot be rendered. */
export async function renderProposal(read: Reader, workspaceId: string, proposal: NewProposal): Promise<ProposalDetail["rendered"]> {
  if (proposal.kind === "template") {
    const { type, subject, html, text } = proposal;
    const shown = await renderSources(read, workspaceId, { type, subject, html: html ?? null, text });
    return { subject: shown.subject ?? "", html: shown.html, text: shown.text };
  }
  const mail = await renderFor(read, workspaceId, { template: await compile(read, workspaceId, proposal) }, makeStranger(""));
  return { ...mail, text: mail.text ?? (mail.html === null ? null : await toPlainTextInTurns(mail.html)) };
}

async function compile(read: Reader, workspaceId: string, { subject, html, text, previewText }: Campaign): Promise<Compiled> {
  const parse = await loadParser();
  const source = await pinOwn(read, parse, workspaceId, { subject, html: html ?? null, text: text ?? null });
  return compileContent(parse, source, previewText ?? null);
}

/** Its audience are these lists; without any it goes to nobody until a person has chosen. */
function buildAudience(lists: readonly string[]) {
  return { recipientType: "groups" as const, include: [...lists], exclude: [] };
}

async function selectFor(
  read: Reader,
  deps: Deps,
  workspaceId: string,
  proposal: Campaign,
  lists: readonly string[],
): Promise<Selection | ApiError> {
  try {
    const query = { workspaceId, segmentId: null, listId: null, resendOf: null, ...buildAudience(lists) };
    const audience = await selectAudience(read, deps, query);
    await assertRenders(read, workspaceId, [await compile(read, workspaceId, proposal)], audience);
    return audience;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

async function countReach(
  read: Reader,
  deps: Deps,
  workspaceId: string,
  ids: readonly string[],
): Promise<Pick<ProposalDetail, "suggestedLists" | "reach">> {
  if (ids.length === 0) return { suggestedLists: [], reach: null };
  const { lists: t } = read.t;
  const rows = await read
    .select({ id: t.id, name: t.name })
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), inArray(t.id, [...ids]), isNull(t.deletedAt)));
  const found = ids.flatMap((id) => rows.filter((row) => row.id === id));
  const query = { workspaceId, segmentId: null, listId: null, resendOf: null };
  const count = async (of: readonly string[]): Promise<number> =>
    (await selectAudience(read, deps, { ...query, ...buildAudience(of) }, true)).contacts.size;
  const suggestedLists = [];
  for (const { id, name } of found) suggestedLists.push({ id, name, memberCount: await count([id]) });
  return { suggestedLists, reach: found.length === 1 ? (suggestedLists[0]?.memberCount ?? 0) : await count(found.map(({ id }) => id)) };
}

/** The sender of the newest campaign, or the only address that is verified. */
async function suggestSender(read: Reader, deps: Deps, workspaceId: string): Promise<ProposalDetail["suggestedSender"]> {
  const { campaigns: c, senders: s } = read.t;
  const [last] = await read
    .select({ fromEmail: c.fromEmail, fromName: c.fromName })
    .from(c)
    .where(eq(c.workspaceId, workspaceId))
    .orderBy(desc(c.id))
    .limit(1);
  if (last && (await isVerified(read, deps, workspaceId, parseMailbox(last.fromEmail)))) return last;
  const addresses = await read
    .select({ fromEmail: s.value })
    .from(s)
    .where(and(eq(s.workspaceId, workspaceId), eq(s.kind, "address"), eq(s.status, "VERIFIED")))
    .limit(2);
  const [only, another] = addresses;
  if (only && !another) return { fromEmail: only.fromEmail, fromName: null };
  // In dev mode anybody may send from a domain that nobody can own.
  return deps.config.dev && !only ? { fromEmail: "hello@brand.example", fromName: null } : null;
}

function buildCampaign({ name, subject, previewText, html, text }: Campaign, { fromEmail, fromName, lists }: ProposalChoice) {
  return {
    name,
    subjectLine: subject,
    previewText,
    html,
    text,
    fromEmail: fromEmail ?? "",
    fromName: fromName ?? undefined,
    ...buildAudience(lists),
    trackOpens: true,
    trackClicks: true,
  };
}

async function buildTemplate(tx: Tx, workspaceId: string, { name, type, subject, html, text }: Template, approvalId: string) {
  // The end of an id is random, and no slug has it yet.
  const own = `proposal-${approvalId.slice(-12)}`;
  const wanted = /[a-z0-9]/i.test(name.normalize("NFKD")) ? toSlug(name) : own;
  const slug = (await findTemplateBySlug(tx, workspaceId, wanted)) === null ? wanted : own;
  return { name, type, kind: "HTML" as const, subject, html, text, publish: false, slug };
}
