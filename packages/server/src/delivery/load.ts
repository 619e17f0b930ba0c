import { AUTO_REPLY_TO, parseAnyMailbox } from "@mailsvc/sdk/contract";
import type { Reader } from "../db/db.ts";
import { buildMessageId, type ContentsRow, type EmailRow, findContents } from "../emails/emails.ts";
import { createByteBudget } from "../lib/byte-budget.ts";
import { isTestMail } from "../lib/ids.ts";
import { waitForTurn } from "../lib/turn.ts";
import { MB } from "../lib/units.ts";
import { findLiving } from "../workspaces/workspaces.ts";
import type { ClaimedMail } from "./claimed-mail.ts";
import type { DeliveryDeps } from "./deps.ts";
import { domainOf, listHeldDomains } from "./holds.ts";
import type { Next } from "./next.ts";
import { failedOutcome, withdrawnOutcome } from "./outcome.ts";
import { type PendingMail, type Transformed, transformMails } from "./transform.ts";

// Large messages in memory at the same time: composing one takes a few times its size.
const MEMORY_BYTES = 16 * MB;

type Claimed = Pick<ClaimedMail, "email">;

/** Callback: asks a mailer to take the i-th loaded email. Null: it takes it now; otherwise the time (ms) to retry. */
type Admit = (mail: PendingMail, i: number) => number | null;

/** Gets emails that were loaded together, each with what is to be done next with it, and when that began: real time, ms. */
type OnLoaded = (loaded: readonly (readonly [ClaimedMail, Next])[], startedAt: number) => void;

/** Loads claimed emails: small ones together, large ones in turns within a budget of memory. */
export class MailLoader {
  readonly #deps: DeliveryDeps;
  readonly #admit: (claimed: ClaimedMail, mail: PendingMail) => number | null;
  readonly #loaded: OnLoaded;
  readonly #memory = createByteBudget(MEMORY_BYTES);

  constructor(deps: DeliveryDeps, admit: (claimed: ClaimedMail, mail: PendingMail) => number | null, loaded: OnLoaded) {
    this.#deps = deps;
    this.#admit = admit;
    this.#loaded = loaded;
  }

  load(claimed: readonly ClaimedMail[]): void {
    const small = claimed.filter(({ bytes }) => bytes === undefined);
    if (small.length > 0) void this.#loadTogether(small);
    for (const one of claimed) if (one.bytes !== undefined) void this.#loadLarge(one, one.bytes);
  }

  async #loadTogether(claimed: readonly ClaimedMail[]): Promise<void> {
    const startedAt = this.#deps.clock.real.now();
    const nexts = await loadMails(this.#deps, claimed, (mail, i) => this.#admit(claimed[i] as ClaimedMail, mail));
    this.#loaded(
      nexts.map((next, i) => [claimed[i] as ClaimedMail, next]),
      startedAt,
    );
  }

  /** Many large emails at a time would fill the memory, and block the event loop. */
  async #loadLarge(claimed: ClaimedMail, bytes: number): Promise<void> {
    claimed.whenEnded(await this.#memory.take(bytes));
    await waitForTurn();
    await this.#loadTogether([claimed]);
  }
}

/**
 * Reads the contents of claimed emails, and transforms those that are to be handed over. Answers in the order of `claimed`. Never throws.
 * An email that was changed since its claim is found out when it is marked, or its outcome stored.
 *
 * | email                                   | next                                                            |
 * | --------------------------------------- | --------------------------------------------------------------- |
 * | has no contents, or no workspace        | settle                                                          |
 * | goes to a domain that is held           | settle as held; test mail goes nowhere, so it is handed over    |
 * | its mailer has no room, or no turn      | settle as postponed                                             |
 * | a transform withdraws it, or fails it   | settle as withdrawn or failed                                   |
 * | it cannot be read, a transform throws   | fail                                                            |
 * | otherwise                               | hand over                                                       |
 */
export async function loadMails(deps: DeliveryDeps, claimed: readonly Claimed[], admit: Admit = () => null): Promise<Next[]> {
  try {
    const [found, heldDomains] = await Promise.all([findPendingMails(deps.db.read, claimed), listHeldDomains(deps.db.read)]);
    const decided = found.map((mail) => decide(mail, heldDomains));
    await chooseMailers(deps, decided);
    const admitted = decided.map((one, i) => (one.next === "handOver" ? postpone(one.mail, admit(one.mail, i)) : one));
    return await transformLoaded(deps, admitted);
  } catch (error) {
    return claimed.map(() => ({ next: "fail", error }));
  }
}

function decide(mail: PendingMail | undefined, heldDomains: ReadonlySet<string>): Next {
  if (!mail) return { next: "settle" };
  const { email } = mail;
  const domain = domainOf(email.toKey);
  if (heldDomains.has(domain) && !isTestMail(email.id)) return { next: "settle", effect: { kind: "held", email, domain } };
  return { next: "handOver", mail };
}

function postpone(mail: PendingMail, runAt: number | null): Next {
  return runAt === null ? { next: "handOver", mail } : { next: "settle", effect: { kind: "postponed", email: mail.email, runAt } };
}

/** Chooses the mailer of each email that is to be handed over. */
export async function chooseMailers({ mailers, db }: DeliveryDeps, all: readonly Next[]): Promise<void> {
  const mails = all.flatMap((one) => (one.next === "handOver" ? one.mail : []));
  for (const [i, choice] of (await mailers.choose(db.read, mails)).entries()) (mails[i] as PendingMail).choice = choice;
}

/** Transforms the emails among `all` that are to be handed over, and decides what becomes of each. */
export async function transformLoaded(deps: DeliveryDeps, all: readonly Next[]): Promise<Next[]> {
  const mails = all.flatMap((one) => (one.next === "handOver" ? one.mail : []));
  const transformed = (await transformMails(deps, mails)).values();
  const now = deps.clock.now();
  return all.map((one) => {
    const next = one.next === "handOver" ? transformed.next().value : undefined;
    return next ? judge(next, now) : one;
  });
}

function judge(transformed: Transformed, now: number): Next {
  if ("error" in transformed) return { next: "fail", error: transformed.error };
  const { mail } = transformed;
  if (mail.withdrawal !== null) return { next: "settle", effect: withdrawnOutcome(mail.email, mail.withdrawal, now) };
  if (mail.failure !== null) return { next: "settle", effect: failedOutcome(mail.email, mail.failure, now) };
  return { next: "handOver", mail };
}

/** Claimed emails with their contents, in their order; undefined for those whose contents or workspace are gone. */
async function findPendingMails(read: Reader, claimed: readonly Claimed[]): Promise<(PendingMail | undefined)[]> {
  const emails = claimed.map(({ email }) => email);
  const [contents, living] = await Promise.all([
    findContents(read, [...new Set(emails.map(({ contentsId }) => contentsId))]),
    findLiving(read, [...new Set(emails.map(({ workspaceId }) => workspaceId))]),
  ]);
  const contentsById = new Map(contents.map((row) => [row.id, row]));
  return emails.map((email) => {
    const [own, workspace] = [contentsById.get(email.contentsId), living.get(email.workspaceId)];
    return own && workspace && { ...toPendingMail(email, own), receivesReplies: workspace.receivesReplies };
  });
}

/** An email before it is transformed. */
export function toPendingMail(row: EmailRow, contents: ContentsRow): PendingMail {
  // A process died between the hand-over and storing its outcome: whatever becomes of it now, it may have arrived.
  const email = row.status === "sending" ? { ...row, inDoubt: true } : row;
  return {
    email,
    contents,
    attempt: email.attempts + 1,
    choice: null,
    envelopeFrom: parseAnyMailbox(contents.from).address,
    messageId: buildMessageId(email, contents),
    replyTo: contents.replyTo === AUTO_REPLY_TO ? null : contents.replyTo,
    subject: contents.subject,
    html: contents.html,
    text: contents.text,
    headers: contents.headers,
    failure: null,
    withdrawal: null,
  };
}
