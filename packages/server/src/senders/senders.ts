import { type Mailbox, type Page, parseAddress, type Sender, toDomain } from "@mailsvc/sdk/contract";
import { and, asc, eq, isNotNull, lte, or } from "drizzle-orm";
import type { Db, Reader, Tx } from "../db/db.ts";
import { UniqueViolation } from "../db/errors.ts";
import { findRows } from "../db/find.ts";
import { listPage, type PageInput } from "../db/pagination.ts";
import type { EventDeps } from "../events/deps.ts";
import { ApiError, brokenLink, notFound } from "../lib/api-error.ts";
import { type Clock, iso } from "../lib/clock.ts";
import type { DomainRecords } from "../lib/domain-records.ts";
import type { Ids } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import type { Random } from "../lib/random.ts";
import type { Mailer } from "../mail/mailer.ts";
import { ATTEMPTS_OF_OWN_MAIL, type Queue } from "../queue/queue.ts";
import type { RelayNames } from "../relays/deps.ts";
import { assertRelayOpen } from "../relays/relays.ts";
import { buildDnsRecord, lookForRecord, type RecordLook } from "./dns.ts";
import { assertFree, verifyAlone } from "./one-workspace.ts";
import { type CheckedDomains, storeLook } from "./recheck.ts";
import type { SenderTables } from "./tables.ts";
import type { VerifiedSenders } from "./verified-senders.ts";

export { buildDnsRecord, lookForRecord, type RecordLook } from "./dns.ts";
export { type CheckedDomains, recheckDomains, storeLook } from "./recheck.ts";

/** The kinds of the jobs that verify a sender; see `jobs.ts`. */
export const CHECK_JOB = "senders.check";
export const CONFIRM_JOB = "senders.confirm";
/** The kind of the job that looks for the records of verified domains; one of it always waits. */
export const RECHECK_JOB = "senders.recheck";

export type SenderRow = SenderTables["senders"]["$inferSelect"];

/** A sender as the API shows it. */
export function toSender(row: SenderRow): Sender {
  return {
    id: row.id,
    kind: row.kind,
    value: row.value,
    status: row.status,
    dnsRecord: row.kind === "domain" && (row.status === "PENDING" || row.failingSince !== null) ? buildDnsRecord(row) : null,
    lastError: row.lastError,
    failingSince: row.failingSince === null ? null : iso(row.failingSince),
    relay: row.relay,
    createdAt: iso(row.createdAt),
    verifiedAt: row.verifiedAt === null ? null : iso(row.verifiedAt),
  };
}

/** Adds a sender and starts its verification; in dev mode it is verified at once. Throws ApiError conflict. */
export async function addSender(
  tx: Tx,
  deps: SenderDeps,
  workspaceId: string,
  wanted: { email?: string | undefined; domain?: string | undefined },
): Promise<Sender> {
  const kind = wanted.email === undefined ? "domain" : "address";
  const value = wanted.email === undefined ? toDomain(wanted.domain as string) : parseAddress(wanted.email).key;
  const now = deps.clock.now();
  const row: SenderRow = {
    id: deps.ids("snd"),
    workspaceId,
    kind,
    value,
    status: deps.config.dev ? "VERIFIED" : "PENDING",
    token: makeToken(deps),
    lastError: null,
    checkedAt: null,
    failingSince: null,
    relay: null,
    createdAt: now,
    verifiedAt: deps.config.dev ? now : null,
  };
  if (row.status === "VERIFIED") await assertFree(tx, row);
  try {
    await tx.insert(tx.t.senders).values(row);
  } catch (error) {
    if (!(error instanceof UniqueViolation)) throw error;
    throw new ApiError("conflict", `${value} is already a sender of this workspace.`, { hint: "See: mailsvc senders list" });
  }
  if (row.status === "PENDING")
    await deps.queue.enqueue(tx, {
      ...(kind === "domain" ? { kind: CHECK_JOB } : { kind: CONFIRM_JOB, maxAttempts: ATTEMPTS_OF_OWN_MAIL }),
      payload: { workspaceId, senderId: row.id },
    });
  return toSender(row);
}

/** One sender. Throws ApiError not_found. */
export async function getSenderRow(q: Tx | Reader, workspaceId: string, id: string): Promise<SenderRow> {
  const { senders } = q.t;
  const [row] = await findRows(q, senders, { workspaceId, id });
  if (!row) throw notFound("sender", id);
  return row;
}

/** The workspace of a sender; null if there is no such sender. */
export async function findWorkspaceOfSender(read: Reader, id: string): Promise<string | null> {
  const [row] = await findRows(read, read.t.senders, { id });
  return row?.workspaceId ?? null;
}

/** Names the relay of mail from a sender; null for none of its own. Throws ApiError not_found, or validation_error for an unknown relay. */
export async function chooseRelay(
  tx: Tx,
  deps: SenderDeps,
  workspaceId: string,
  { id, relay }: { id: string; relay: string | null },
): Promise<Sender> {
  const row = await getSenderRow(tx, workspaceId, id);
  if (relay !== null) await assertRelayOpen(tx, deps, workspaceId, relay);
  await tx.update(tx.t.senders).set({ relay }).where(eq(tx.t.senders.id, id));
  return toSender({ ...row, relay });
}

/** Deletes a sender; later sends from it are refused. Throws ApiError not_found. */
export async function removeSender(tx: Tx, deps: SenderDeps, workspaceId: string, id: string): Promise<Sender> {
  const row = await getSenderRow(tx, workspaceId, id);
  await tx.delete(tx.t.senders).where(eq(tx.t.senders.id, id));
  tx.afterCommit(() => deps.verified.clear());
  return toSender(row);
}

/**
 * Makes these addresses and domains verified senders of a workspace, adding the missing ones. Throws ApiError conflict for one whose domain
 * is verified in another workspace.
 */
export async function trustSenders(tx: Tx, deps: SenderDeps, workspaceId: string, values: readonly string[]): Promise<void> {
  const { senders: t } = tx.t;
  const now = deps.clock.now();
  for (const value of values) {
    const row = { id: deps.ids("snd"), workspaceId, kind: value.includes("@") ? ("address" as const) : ("domain" as const), value };
    const token = makeToken(deps);
    const [known] = await findRows(tx, t, { workspaceId, value });
    if (known?.status === "VERIFIED") continue;
    await assertFree(tx, row);
    await tx
      .insert(t)
      .values({ ...row, status: "VERIFIED", token, lastError: null, createdAt: now, verifiedAt: now })
      .onConflictDoNothing();
    await tx
      .update(t)
      .set({ status: "VERIFIED", lastError: null, verifiedAt: now })
      .where(and(eq(t.workspaceId, workspaceId), eq(t.value, value), eq(t.status, "PENDING")));
  }
}

/**
 * Stores the proof of a sender without DNS, or with `fault` why there is none. A verified sender stays verified. Throws ApiError conflict
 * when another workspace has the domain.
 */
export async function recordVerification(tx: Tx, deps: SenderDeps, row: SenderRow, fault: string | null): Promise<SenderRow> {
  if (row.status === "VERIFIED") return row;
  if (fault === null) await assertFree(tx, row);
  return store(tx, row, fault === null ? { status: "VERIFIED", verifiedAt: deps.clock.now(), lastError: null } : { lastError: fault });
}

/**
 * Stores what a look for the record of a domain found. A verified domain stays verified; one that was verified without DNS is left alone.
 * Throws ApiError conflict when another workspace has the domain.
 */
export async function recordLook(tx: Tx, deps: SenderDeps, row: SenderRow, look: RecordLook): Promise<SenderRow> {
  const now = deps.clock.now();
  if (row.status === "VERIFIED")
    return row.checkedAt === null ? row : { ...row, ...(await storeLook(tx, deps, checkedSenders(deps), row, look)) };
  if (look.fault === null) await assertFree(tx, row);
  return store(
    tx,
    row,
    look.fault === null ? { status: "VERIFIED", verifiedAt: now, checkedAt: now, lastError: null } : { lastError: look.fault },
  );
}

/** A verified domain of a workspace whose record is missing; null if there is none with this name. */
export async function findMissingRecord(
  read: Reader,
  workspaceId: string,
  domain: string,
): Promise<(Pick<SenderRow, "value" | "token"> & { readonly failingSince: number }) | null> {
  const [row] = await findRows(read, read.t.senders, { workspaceId, value: domain, status: "VERIFIED" });
  return row?.failingSince == null ? null : { value: row.value, token: row.token, failingSince: row.failingSince };
}

/** The verified sender domains whose records are looked for. */
export function checkedSenders(deps: Pick<SenderDeps, "db" | "dns">): CheckedDomains {
  const { db } = deps;
  return {
    idName: "senderId",
    findDue: ({ since, missingSince, limit }) => {
      const { senders: t } = db.read.t;
      const isDue = or(lte(t.checkedAt, since), and(isNotNull(t.failingSince), lte(t.checkedAt, missingSince)));
      return db.read
        .select()
        .from(t)
        .where(and(eq(t.status, "VERIFIED"), isNotNull(t.checkedAt), isDue))
        .orderBy(asc(t.checkedAt))
        .limit(limit);
    },
    find: async (tx, id) => (await findRows(tx, tx.t.senders, { id, status: "VERIFIED" }))[0] ?? null,
    look: (domain) => lookForRecord(deps, domain),
    save: async (tx, id, state) => void (await tx.update(tx.t.senders).set(state).where(eq(tx.t.senders.id, id))),
  };
}

async function store(tx: Tx, row: SenderRow, patch: Partial<SenderRow>): Promise<SenderRow> {
  await verifyAlone(row, () => tx.update(tx.t.senders).set(patch).where(eq(tx.t.senders.id, row.id)));
  return { ...row, ...patch };
}

/** The sender of a confirmation link. Throws ApiError not_found. */
export async function getSenderRowByToken(q: Tx | Reader, token: string): Promise<SenderRow> {
  const [row] = await findRows(q, q.t.senders, { token, kind: "address" });
  if (!row) throw brokenLink("linkSender");
  return row;
}

// Domains that nobody can own (RFC 2606): in dev mode they may send without being added.
const RESERVED = /(?:^|\.)(?:test|example)$/;

/**
 * Throws ApiError sender_not_verified, about the field `path`, unless the address or its whole domain is verified.
 */
export async function assertVerified(tx: Tx, deps: SenderDeps, workspaceId: string, from: Mailbox, path = "from"): Promise<void> {
  if (deps.config.dev && RESERVED.test(from.domain)) return;
  if (deps.verified.has(workspaceId, from.key)) return;
  if (await isStored(tx, workspaceId, from)) {
    // After the commit, because this transaction may be the one that verified it.
    tx.afterCommit(() => deps.verified.add(workspaceId, from.key));
    return;
  }
  throw new ApiError(
    "sender_not_verified",
    `Neither ${from.address} nor the domain ${from.domain} is a verified sender of this workspace.`,
    {
      details: [{ path, code: "sender_not_verified", message: `Verify ${from.address} or ${from.domain} first.` }],
      hint: `Add and verify it: mailsvc senders create --email ${from.address}`,
    },
  );
}

/** True if `assertVerified` would let the address pass. */
export async function isVerified(q: Tx | Reader, deps: SenderDeps, workspaceId: string, from: Mailbox): Promise<boolean> {
  if (deps.config.dev && RESERVED.test(from.domain)) return true;
  return deps.verified.has(workspaceId, from.key) || isStored(q, workspaceId, from);
}

/** The senders of a workspace, newest first. */
export function listSenders(
  read: Reader,
  workspaceId: string,
  input: PageInput & { status?: Sender["status"] | undefined },
): Promise<Page<Sender>> {
  const { senders: t } = read.t;
  const where = and(eq(t.workspaceId, workspaceId), input.status && eq(t.status, input.status));
  return listPage(read, input, { table: t, where, toItem: toSender });
}

async function isStored(q: Tx | Reader, workspaceId: string, { key, domain }: Mailbox): Promise<boolean> {
  const status = "VERIFIED" as const;
  const found = await q.lookUp(q.t.senders, [
    { workspaceId, value: key, status },
    { workspaceId, value: domain, status },
  ]);
  return found.some((rows) => rows.length > 0);
}

function makeToken({ random }: SenderDeps): string {
  return Buffer.from(random.bytes(24)).toString("hex");
}

export interface SenderDeps extends EventDeps, RelayNames {
  readonly clock: Clock;
  readonly db: Db;
  readonly dns: Pick<DomainRecords, "txt">;
  readonly ids: Ids;
  readonly log: Log;
  readonly mailer: Mailer;
  readonly queue: Queue;
  readonly random: Random;
  readonly verified: VerifiedSenders;
  /** The public address of this server, without a trailing slash. Known once it listens. */
  baseUrl(): string;
  readonly config: { readonly dev: boolean; readonly mailFrom: string };
}
