import { parseMailbox } from "@mailsvc/sdk/contract";
import type { Reader } from "../db/db.ts";
import type { Deps } from "../deps.ts";
import {
  buildMessageId,
  type ContentsRow,
  EMAILS_PER_JOB,
  type EmailRow,
  findAttachments,
  findContents,
  findEmailRows,
  OPEN,
  readDeliveryJob,
} from "../emails/emails.ts";
import { createByteBudget } from "../lib/byte-budget.ts";
import type { Timer } from "../lib/clock.ts";
import { waitForTurn } from "../lib/turn.ts";
import type { OutgoingMail } from "../mail/mailer.ts";
import type { BatchHandler, LaneJob, Settle } from "../queue/queue.ts";
import { domainOf, type Held, listHeldDomains } from "./holds.ts";
import { createLead } from "./lead.ts";
import {
  type Delivery,
  type Effect,
  listSuppressed,
  type Mark,
  storeDeliveries,
  toDelivery,
  toFailed,
  toSuppressed,
  toWithdrawn,
} from "./outcome.ts";
import type { PendingMail } from "./transform.ts";

export { RETRY_DELAYS } from "./outcome.ts";

// Large messages in memory at the same time: composing one takes a few times its size.
const MEMORY_BYTES = 16 * 1024 * 1024;
// A claim that is used up faster than this may be larger the next time.
const AHEAD_MS = 250;
const MAX_AHEAD = 128;
// How long an outcome may wait for the next marks, or for others.
const HOLD_MS = 25;
// Work done in one stretch, ms: other callers wait no longer.
const STRETCH_MS = 3;
// How long after a single mail bulk mail leaves room for more of them.
const SINGLE_MS = 200;

/** A job, and the emails of it that are still to be delivered. */
interface Work {
  readonly job: LaneJob;
  readonly settle: Settle<Effect>;
  /** True if the job delivers this email only. */
  readonly single: boolean;
  left: number;
  /** Why one of its emails could not be delivered or stored: the job runs again for it. */
  error: unknown;
}

/** One email of a job. */
interface Item {
  readonly work: Work;
  readonly workspaceId: string;
  readonly emailId: string;
  /** The size of a large message. */
  readonly bytes: number | undefined;
  readonly lane: "single" | "bulk";
  /** Gives back the memory of a large message. */
  freeMemory?: () => void;
}

/** An email that waits for a place. */
interface Ready {
  readonly item: Item;
  readonly mail: PendingMail;
}

/**
 * Delivers emails in batches. Emails that were claimed together are loaded and transformed together, and wait for a place; the
 * mailer has as many places as it accepts messages at once, and single mails go before bulk mails. For a mailer that is not
 * transactional an email is marked `sending` before the hand-over. While mail leaves quickly, some more are marked than there are
 * places: they keep the mailer busy while the next marks are stored, half of them at a time, in one transaction with the outcomes
 * that came in meanwhile. Otherwise each outcome is settled as soon as it is known; those of bulk mail to a transactional mailer
 * when all that have a place are handed over, 25 ms later at most. So no mail waits for the slowest one of its batch, one that hangs
 * holds only its own place, and a crash leaves no more in doubt than there are places and 64 (`lead.ts`).
 *
 * What throws for a batch (a transform, a listener) is run again for each mail alone: one that cannot be delivered fails only itself.
 */
export function deliverEmails(deps: Deps): BatchHandler<Effect> {
  const { db, clock, mailer } = deps;
  const places = mailer.concurrency;
  /** Mails that are claimed and loaded while others are handed over: as many as leave within a quarter of a second. */
  let ahead = places;
  let claimedAt = 0;
  /** When the last single mail was claimed, in real time. */
  let singleAt = Number.NEGATIVE_INFINITY;
  const budget = createByteBudget(MEMORY_BYTES);
  const waiting: { single: Ready[]; bulk: Ready[] } = { single: [], bulk: [] };
  const held = { single: 0, bulk: 0 };
  /** Emails that were given a place or are marked, or being marked, for one. */
  let taken = 0;
  /** Emails under way: never more than there are places. */
  let underWay = 0;
  /** Marked, and waiting for a place. */
  const marked: Ready[] = [];
  const lead = createLead(clock.real.now);
  /** Settle the outcomes that wait for the next marks, or for others. */
  let outcomes: (() => unknown)[] = [];
  let late: Timer | null = null;
  let stretchSince = 0;
  /** True while emails that were stored together leave their places. */
  let leaving = false;

  /** Lets others have a turn when this one has lasted for some ms. */
  const pause = async (): Promise<void> => {
    if (clock.real.now() - stretchSince < STRETCH_MS) return;
    await waitForTurn();
    stretchSince = clock.real.now();
  };

  /** Settles an email whose attempt is over. */
  const finish = async (item: Item, delivery?: Delivery): Promise<void> => {
    const { job, settle, single } = item.work;
    leave(item);
    const bytes = delivery?.record && item.bytes;
    if (single) await settle(job, { effect: delivery, again: delivery?.retryAt, bytes });
    else if (delivery) await settlePart(item, { ...delivery, sharedJob: job }, bytes);
    await end(item);
  };

  /** Settles an email whose domain is held: its job is over. */
  const hold = async (item: Item, email: EmailRow): Promise<void> => {
    const { job, settle, single } = item.work;
    leave(item);
    const held: Held = { held: email, domain: domainOf(email.toKey), bytes: item.bytes ?? 0 };
    if (single) await settle(job, { effect: held });
    else await settlePart(item, { ...held, sharedJob: job });
    await end(item);
  };

  const settlePart = ({ work }: Item, effect: Effect, bytes?: number): Promise<void> =>
    work.settle(work.job, { effect, more: true, bytes }).catch((error: unknown) => {
      work.error = error;
    });

  const fail = async (item: Item, error: unknown): Promise<void> => {
    const { job, settle, single } = item.work;
    leave(item);
    if (single) await settle(job, { error });
    else item.work.error = error;
    await end(item);
  };

  // Before it is settled: the queue asks for free slots as soon as that is done.
  const leave = (item: Item): void => {
    held[item.lane] -= 1;
  };

  const end = async ({ work, freeMemory }: Item): Promise<void> => {
    freeMemory?.();
    work.left -= 1;
    if (work.single || work.left > 0) return;
    await work.settle(work.job, work.error === undefined ? {} : { error: work.error });
  };

  /** Loads emails and their contents and applies the transforms. */
  const load = async (items: readonly Item[]): Promise<void> => {
    let found: Map<Item, PendingMail>;
    let held: ReadonlySet<string>;
    try {
      [found, held] = await Promise.all([findPending(db.read, items), listHeldDomains(db.read)]);
    } catch (error) {
      await Promise.all(items.map((item) => fail(item, error)));
      return;
    }
    const ready: Ready[] = [];
    for (const item of items) {
      const mail = found.get(item);
      // The email was cancelled, or rescheduled: its new instant has a job of its own.
      if (!mail || !OPEN.includes(mail.email.status) || (mail.email.nextAttemptAt ?? 0) > clock.now()) void finish(item);
      else if (held.size > 0 && held.has(domainOf(mail.email.toKey))) void hold(item, mail.email);
      else ready.push({ item, mail });
    }
    const transform = async (some: readonly Ready[]): Promise<void> => {
      const mails = some.map(({ mail }) => ({ ...mail }));
      for (const transformAll of deps.mailTransforms) {
        await pause();
        await transformAll(db.read, deps, mails);
      }
      for (const [i, { item }] of some.entries()) {
        const mail = mails[i] as PendingMail;
        if (mail.withdrawal !== null) void finish(item, { move: toWithdrawn(mail.email, mail.withdrawal, clock.now()) });
        else if (mail.failure === null) waiting[item.lane].push({ item, mail });
        else void finish(item, { move: toFailed(mail.email, mail.failure, clock.now()) });
      }
    };
    try {
      await transform(ready);
    } catch {
      for (const one of ready) await transform([one]).catch((error: unknown) => fail(one.item, error));
    }
    pump();
  };

  const loadLarge = async (item: Item, bytes: number): Promise<void> => {
    item.freeMemory = await budget.take(bytes);
    await waitForTurn();
    await load([item]);
  };

  const leavePlace = (): void => {
    taken -= 1;
    pump();
  };

  /** The same for emails whose outcomes were stored together: their places are given again at once. */
  const leavePlaceTogether = (): void => {
    taken -= 1;
    if (leaving) return;
    leaving = true;
    queueMicrotask(() => {
      leaving = false;
      pump();
    });
  };

  const settleOutcomes = (): void => {
    late?.cancel();
    late = null;
    const all = outcomes;
    outcomes = [];
    for (const settle of all) settle();
  };

  /** Hands one email over, and gives the settling of its outcome. */
  const handOver = async (item: Item, mail: PendingMail): Promise<() => Promise<void>> => {
    try {
      const receipt = await mailer.send(await toOutgoingMail(db.read, mail));
      const delivery = toDelivery(receipt, mail.email, mail.attempt, deps);
      return () => finish(item, delivery);
    } catch (error) {
      return () => fail(item, error);
    }
  };

  const handOverMarked = async ({ item, mail }: Ready): Promise<void> => {
    underWay += 1;
    const settle = await handOver(item, mail);
    outcomes.push(settle);
    underWay -= 1;
    lead.left();
    const next = marked.shift();
    if (next) void handOverMarked(next);
    leavePlace();
  };

  /** Marks one email as `sending` and hands it over when it has a place. */
  const deliver = async ({ item, mail }: Ready): Promise<void> => {
    const mark: Mark = { mail, marked: null };
    try {
      await item.work.settle(item.work.job, { effect: mark, more: true });
    } catch (error) {
      const failed = fail(item, error);
      leavePlace();
      return failed;
    }
    if (!mark.marked) {
      leavePlace();
      return finish(item);
    }
    const ready = { item, mail: { ...mail, email: mark.marked } };
    if (underWay < places) return handOverMarked(ready);
    marked.push(ready);
  };

  const deliverUnmarkedOne = async (item: Item, mail: PendingMail): Promise<void> => {
    const settle = await handOver(item, mail);
    underWay -= 1;
    outcomes.push(() => settle().then(leavePlaceTogether));
    // A single mail does not wait for others.
    if (underWay === 0 || item.lane === "single") settleOutcomes();
    else late ??= clock.real.after(HOLD_MS, settleOutcomes);
  };

  /** A transactional mailer needs no mark: its delivery is stored together with the outcome. */
  const deliverUnmarked = async (batch: readonly Ready[]): Promise<void> => {
    const mails = batch.map(({ mail }) => mail);
    underWay += batch.length;
    const suppressed = await listSuppressed(db.read, mails).catch((error: unknown) => error);
    for (const { item, mail } of batch) {
      await pause();
      if (suppressed instanceof Set && !suppressed.has(mail)) void deliverUnmarkedOne(item, mail);
      else {
        underWay -= 1;
        void (suppressed instanceof Set ? finish(item, { move: toSuppressed(mail.email, clock.now()) }) : fail(item, suppressed));
        leavePlace();
      }
    }
  };

  /** Looks further ahead while claimed mails leave quickly, so that no process sits on mail that another one could send. */
  const adapt = (): void => {
    const now = clock.real.now();
    const quick = now - claimedAt < AHEAD_MS;
    claimedAt = now;
    ahead = quick ? Math.min(ahead * 2, Math.max(MAX_AHEAD, places)) : Math.max(ahead / 2, Math.min(places, MAX_AHEAD));
  };

  const takeWaiting = (most: number): Ready[] => {
    const batch = waiting.single.splice(0, most);
    batch.push(...waiting.bulk.splice(0, most - batch.length));
    taken += batch.length;
    return batch;
  };

  /** Gives the free places to the emails that wait, and settles outcomes together with their marks. */
  function pump(): void {
    const ahead = lead.size();
    if (taken >= places + ahead / 2) {
      // The mailer is busy for a while.
      if (outcomes.length > 0) late ??= clock.real.after(HOLD_MS, settleOutcomes);
      return;
    }
    settleOutcomes();
    const batch = takeWaiting(places + ahead - taken);
    if (batch.length === 0) return;
    if (mailer.transactional) void deliverUnmarked(batch);
    else for (const ready of batch) void deliver(ready);
  }

  return {
    freeSlots: (lane) => {
      if (lane === "default") return 0;
      const single = lane === "mail";
      // Many at a time: claiming and loading a few costs as much. Bulk mail takes less while single mail comes in, which waits for it.
      const more = single || clock.real.now() - singleAt > SINGLE_MS ? lead.size() + ahead : 0;
      const free = places + more - (single ? held.single : held.bulk);
      if (free < Math.min(ahead, places + more) / 2) return 0;
      return single ? free : Math.ceil(free / EMAILS_PER_JOB);
    },
    run: (jobs, settle) => {
      adapt();
      const small: Item[] = [];
      for (const item of jobs.flatMap((job) => toItems(job, settle))) {
        held[item.lane] += 1;
        if (item.lane === "single") singleAt = clock.real.now();
        if (item.bytes === undefined) small.push(item);
        // Large ones take turns, so that a batch of them neither fills the memory nor blocks the event loop.
        else void loadLarge(item, item.bytes);
      }
      if (small.length > 0) void load(small);
    },
    commit: (tx, deliveries) => storeDeliveries(tx, deps, deliveries),
  };
}

function toItems(job: LaneJob, settle: Settle<Effect>): Item[] {
  const { workspaceId, emailIds, single, bytes } = readDeliveryJob(job.payload);
  const work: Work = { job, settle, single, left: emailIds.length, error: undefined };
  const lane = job.lane === "bulk" ? "bulk" : "single";
  if (emailIds.length === 0) void settle(job, {});
  return emailIds.map((emailId) => ({ work, workspaceId, emailId, bytes, lane }));
}

/** The emails of these items, as they are stored. */
async function findPending(read: Reader, items: readonly Item[]): Promise<Map<Item, PendingMail>> {
  const rows: EmailRow[] = [];
  for (const [workspaceId, own] of Map.groupBy(items, (item) => item.workspaceId))
    rows.push(
      ...(await findEmailRows(
        read,
        workspaceId,
        own.map(({ emailId }) => emailId),
      )),
    );
  const emails = new Map(rows.map((email) => [`${email.workspaceId} ${email.id}`, email]));
  const contentsIds = [...new Set(rows.map((email) => email.contentsId))];
  const contents = new Map(contentsIds.length === 0 ? [] : (await findContents(read, contentsIds)).map((row) => [row.id, row]));
  const found = new Map<Item, PendingMail>();
  for (const item of items) {
    const email = emails.get(`${item.workspaceId} ${item.emailId}`);
    const own = email && contents.get(email.contentsId);
    if (email && own) found.set(item, toPendingMail(email, own));
  }
  return found;
}

function toPendingMail(row: EmailRow, contents: ContentsRow): PendingMail {
  // A process died between the hand-over and storing its outcome: whatever becomes of it now, it may have arrived.
  const email = row.status === "sending" ? { ...row, inDoubt: true } : row;
  return {
    email,
    contents,
    attempt: email.attempts + 1,
    envelopeFrom: parseMailbox(contents.from).address,
    messageId: buildMessageId(email.id, contents.from),
    subject: contents.subject,
    html: contents.html,
    text: contents.text,
    headers: contents.headers,
    failure: null,
    withdrawal: null,
  };
}

async function toOutgoingMail(read: Reader, mail: PendingMail): Promise<OutgoingMail> {
  const { email, contents } = mail;
  return {
    envelopeFrom: mail.envelopeFrom,
    envelopeTo: email.to,
    messageId: mail.messageId,
    from: contents.from,
    to: email.to,
    replyTo: contents.replyTo,
    subject: mail.subject,
    html: mail.html,
    text: mail.text,
    personal: (mail.html ?? mail.text) !== (contents.html ?? contents.text),
    headers: mail.headers,
    attachments: contents.attachments > 0 ? await findAttachments(read, contents) : [],
    // The date of the first attempt, because every attempt sends the same bytes.
    date: email.scheduledAt ?? email.createdAt,
    attempt: mail.attempt,
    origin: { workspaceId: email.workspaceId, emailId: email.id },
    traceparent: contents.traceparent,
  };
}
