import type { AgentMessage, Delivery, ProposalDetail } from "@mailsvc/sdk/contract";
import { CTRL_C, listenToKeys } from "../runtime/keys.ts";
import { safeText } from "../text/safe-text.ts";
import type { Session } from "../types.ts";
import { describeProposal } from "../views/proposals.ts";
import type { DevMarketplace } from "./setup.ts";

type Decision = "approve" | "reject";

const POLL_MS = 1000;
const KEYS: Readonly<Record<string, Decision>> = { a: "approve", r: "reject" };

/** Number of attempts per event that were reported before. */
type KnownAttempts = ReadonlyMap<string, number>;

/** The attempts made so far. Take them before the activation, so that its events count as news. */
export async function readAttempts({ builder }: DevMarketplace, slug: string): Promise<KnownAttempts> {
  return new Map((await builder.deliveries.list(slug)).data.map(({ id, attempts }) => [id, attempts]));
}

/**
 * Prints the attempts to deliver events to the webhook that are not `known`, and the approval requests of the agent, until Ctrl-C. On a terminal the key
 * `a` approves the oldest request and `r` rejects it.
 */
export async function watchAgent(session: Session, market: DevMarketplace, slug: string, known: KnownAttempts): Promise<void> {
  const ended = new AbortController();
  const signal = AbortSignal.any([session.signal, ended.signal]);
  const printed = new Map(known);
  const asked = new Map<string, AgentMessage>();
  const decide = async (decision: Decision): Promise<void> => {
    const [request] = asked.values();
    if (!request) return session.out.note("No approval request waits.");
    asked.delete(request.id);
    await answer(session, market, request, decision).catch((error: Error) => session.out.say(safeText(error.message)));
  };
  const release = listenToKeys(session, (key) => {
    if (key === CTRL_C) ended.abort();
    else if (KEYS[key]) void decide(KEYS[key]);
  });
  try {
    while (!signal.aborted) {
      await printDeliveries(session, market, slug, printed);
      await printRequests(session, market, slug, asked);
      await session.host.sleep(POLL_MS, signal);
    }
  } finally {
    release();
  }
}

async function printDeliveries(session: Session, { builder }: DevMarketplace, slug: string, printed: Map<string, number>): Promise<void> {
  const { out, term } = session;
  for (const delivery of (await builder.deliveries.list(slug)).data.reverse()) {
    if (delivery.attempts <= (printed.get(delivery.id) ?? 0)) continue;
    printed.set(delivery.id, delivery.attempts);
    if (out.json) await out.line({ kind: "delivery", ...delivery });
    else await out.text(`${formatDelivery(delivery, term.out)}\n`);
  }
}

async function printRequests(session: Session, { brand }: DevMarketplace, slug: string, asked: Map<string, AgentMessage>): Promise<void> {
  const { out, term } = session;
  const open = (await brand.approvals.list({ agentSlug: slug })).data.reverse();
  for (const id of asked.keys()) if (!open.some((request) => request.id === id)) asked.delete(id);
  for (const request of open) {
    if (asked.has(request.id)) continue;
    if (out.json) await out.line({ kind: "approval_request", ...request });
    else {
      const allows = request.approval?.allows ? `  Approving allows: ${safeText(request.approval.allows)}\n` : "";
      const title = safeText(request.approval?.title ?? request.text);
      await out.text(`${term.out.yellow("?")} ${term.out.bold(title)}  ${term.out.dim(howToAnswer(request, session))}\n${allows}`);
      const proposal = request.approval?.proposal ? (await brand.approvals.get(request.id)).proposal : null;
      if (proposal) await out.text(`${describeProposal(proposal, request.agentName, session).replace(/^/gm, "  ")}\n`);
    }
    // A key answers what has been shown.
    asked.set(request.id, request);
  }
}

async function answer(session: Session, { brand }: DevMarketplace, request: AgentMessage, decision: Decision): Promise<void> {
  const { out, term } = session;
  if (!optionsOf(request).includes(decision)) return out.say(`This request has its own options: ${howToAnswer(request, session)}`);
  const proposal = decision === "approve" && request.approval?.proposal ? (await brand.approvals.get(request.id)).proposal : null;
  await brand.messages.answer(request.id, { decision, ...(proposal && acceptAsDraft(proposal)) });
  const word = decision === "approve" ? term.out.green("approved") : term.out.red("rejected");
  const made = proposal === null ? "" : term.out.dim(`  a draft ${proposal.kind} was made of it`);
  await out.text(`  ${word} ${safeText(request.approval?.title ?? request.id)}${made}\n`);
}

/** A proposed mail is shown with its request, so a key that approves it has seen it. */
function acceptAsDraft({ kind, hash, suggestedSender }: ProposalDetail) {
  return { hash, create: "draft" as const, ...(kind === "campaign" && { fromEmail: suggestedSender?.fromEmail ?? "hello@brand.example" }) };
}

function howToAnswer(request: AgentMessage, { host, out }: Session): string {
  const options = optionsOf(request);
  if (!options.includes("approve")) return `mailsvc messages answer ${request.id} ${options.join("|")}`;
  return host.stdin.isTTY && !out.json ? "a approves, r rejects" : `mailsvc approvals approve ${request.id}`;
}

function optionsOf(request: AgentMessage): string[] {
  return request.approval?.options.map(({ id }) => id) ?? [];
}

function formatDelivery({ type, attempts, state, lastAttempt, nextAttemptAt, timestamp }: Delivery, style: Session["term"]["out"]): string {
  const good = state === "delivered";
  const outcome =
    lastAttempt === null ? state : lastAttempt.class === "http_status" ? `status ${lastAttempt.httpStatus}` : lastAttempt.class;
  const took = lastAttempt === null ? "" : ` ${lastAttempt.ms} ms`;
  const head = `${style.dim((lastAttempt?.at ?? timestamp).slice(11, 19))} ${good ? style.green("✓") : style.red("✗")} ${type.padEnd(20)} `;
  const repeat = attempts > 1 ? ` attempt ${attempts}` : "";
  const later = good || nextAttemptAt === null ? "" : style.dim(`, again at ${nextAttemptAt.slice(11, 19)}`);
  const why = good || !lastAttempt?.message ? "" : `\n           ${safeText(lastAttempt.message)}`;
  return `${head}${good ? style.green(outcome) : style.red(outcome)}${took}${repeat}${later}${why}`;
}
