import { AUTO_REPLY_TO, parseAnyMailbox } from "@mailsvc/sdk/contract";
import type { Reader } from "../db/db.ts";
import { buildMessageId, type ContentsRow, type EmailRow, findContents, findEmailRows, OPEN } from "../emails/emails.ts";
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

type EmailRef = Pick<ClaimedMail, "workspaceId" | "emailId" | "bytes">;

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
 * Reads claimed emails and their contents, and transforms those that are to be handed over. Answers in the order of `claimed`. Never
 * throws.
 *
 * | email                                   | next                                                            |
 * | --------------------------------------- | --------------------------------------------------------------- |
 * | is gone or not open: cancelled, sent …  | settle                                                          |
 * | is not due: it was rescheduled          | settle; its new instant has its own job                    |
 * | goes to a domain that is held           | settle as held; test mail goes nowhere, so it is handed over    |
 * | its mailer has no room, or no turn      | settle as postponed                                             |
 * | a transform withdraws it, or fails it   | settle as withdrawn or failed                                   |
 * | it cannot be read, a transform throws   | fail                                                            |
 * | otherwise                               | hand over                                                       |
 */
export async function loadMails(deps: DeliveryDeps, claimed: readonly EmailRef[], admit: Admit = () => null): Promise<Next[]> {
  try {
    const [found, heldDomains] = await Promise.all([findPendingMails(deps.db.read, claimed), listHeldDomains(deps.db.read)]);
    const now = deps.clock.now();
    const decided = claimed.map((ref, i) => decide(found[i], ref, heldDomains, now));
    await chooseMailers(deps, decided);
    const admitted = decided.map((one, i) => (one.next === "handOver" ? postpone(one.mail, claimed[i], admit(one.mail, i)) : one));
    return await transformLoaded(deps, admitted);
  } catch (error) {
    return claimed.map(() => ({ next: "fail", error }));
  }
}

function decide(mail: PendingMail | undefined, { bytes = 0 }: EmailRef, heldDomains: ReadonlySet<string>, now: number): Next {
  if (!mail || !OPEN.includes(mail.email.status) || (mail.email.nextAttemptAt ?? 0) > now) return { next: "settle" };
  const { email } = mail;
  const domain = domainOf(email.toKey);
  if (heldDomains.has(domain) && !isTestMail(email.id)) return { next: "settle", effect: { kind: "held", email, domain, bytes } };
  return { next: "handOver", mail };
}

function postpone(mail: PendingMail, ref: EmailRef | undefined, runAt: number | null): Next {
  if (runAt === null) return { next: "handOver", mail };
  return { next: "settle", effect: { kind: "postponed", email: mail.email, runAt, bytes: ref?.bytes ?? 0 } };
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

/** The emails as they are stored, in the order of `refs`; undefined for those that are gone, alone or with their workspace. */
async function findPendingMails(read: Reader, refs: readonly EmailRef[]): Promise<(PendingMail | undefined)[]> {
  const rows: EmailRow[] = [];
  const byWorkspace = Map.groupBy(refs, (ref) => ref.workspaceId);
  const living = await findLiving(read, [...byWorkspace.keys()]);
  for (const [workspaceId, own] of byWorkspace) {
    if (!living.has(workspaceId)) continue;
    const ids = own.map(({ emailId }) => emailId);
    rows.push(...(await findEmailRows(read, workspaceId, ids)));
  }
  const emails = new Map(rows.map((email) => [`${email.workspaceId} ${email.id}`, email]));
  const contentsIds = [...new Set(rows.map((email) => email.contentsId))];
  const contents = new Map(contentsIds.length === 0 ? [] : (await findContents(read, contentsIds)).map((row) => [row.id, row]));
  return refs.map(({ workspaceId, emailId }) => {
    const email = emails.get(`${workspaceId} ${emailId}`);
    const own = email && contents.get(email.contentsId);
    return email && own && { ...toPendingMail(email, own), receivesReplies: living.get(workspaceId)?.receivesReplies };
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
