import { type Mailbox, type Page, parseAddress, type Sender, toDomain } from "@mailsvc/sdk/contract";
import { and, eq, inArray, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { UniqueViolation } from "../db/errors.ts";
import { listPage, type PageInput } from "../db/pagination.ts";
import type { Deps } from "../deps.ts";
import { ApiError, notFound } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import type { Tables } from "../schema.ts";

/** The kinds of the jobs that verify a sender; `jobs.ts` does them. */
export const CHECK_JOB = "senders.check";
export const CONFIRM_JOB = "senders.confirm";

export type SenderRow = Tables["senders"]["$inferSelect"];

/** The TXT record that proves a domain: a name of its own, so that it gets in nobody's way. */
export function buildDnsRecord({ value, token }: Pick<SenderRow, "value" | "token">): { type: "TXT"; name: string; value: string } {
  return {
    type: "TXT",
    name: `_mailsvc.${value}`,
    value: `mailsvc-verify=${token}`,
  };
}

export function toSender(row: SenderRow): Sender {
  return {
    id: row.id,
    kind: row.kind,
    value: row.value,
    status: row.status,
    dnsRecord: row.kind === "domain" && row.status === "PENDING" ? buildDnsRecord(row) : null,
    lastError: row.lastError,
    createdAt: iso(row.createdAt),
    verifiedAt: row.verifiedAt === null ? null : iso(row.verifiedAt),
  };
}

/** Adds a sender and starts its verification; in dev mode it is verified at once. Throws ApiError conflict. */
export async function addSender(
  tx: Tx,
  deps: Deps,
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
    token: Buffer.from(deps.random.bytes(24)).toString("hex"),
    lastError: null,
    createdAt: now,
    verifiedAt: deps.config.dev ? now : null,
  };
  try {
    await tx.insert(tx.t.senders).values(row);
  } catch (error) {
    if (!isUnique(error)) throw error;
    throw new ApiError("conflict", `${value} is a sender of this workspace already.`, { hint: "See: mailsvc senders list" });
  }
  if (row.status === "PENDING")
    await deps.queue.enqueue(tx, { kind: kind === "domain" ? CHECK_JOB : CONFIRM_JOB, payload: { workspaceId, senderId: row.id } });
  return toSender(row);
}

export async function findSender(q: Tx | Reader, workspaceId: string, id: string): Promise<SenderRow> {
  const { senders } = q.t;
  const [row] = await q
    .select()
    .from(senders)
    .where(and(eq(senders.workspaceId, workspaceId), eq(senders.id, id)));
  if (!row) throw notFound("sender", id);
  return row;
}

export async function removeSender(tx: Tx, deps: Deps, workspaceId: string, id: string): Promise<Sender> {
  const row = await findSender(tx, workspaceId, id);
  await tx.delete(tx.t.senders).where(eq(tx.t.senders.id, id));
  tx.afterCommit(() => deps.verified.clear());
  return toSender(row);
}

/** Notes what a check found: null for proven. A sender that is verified stays so. */
export async function recordVerification(tx: Tx, deps: Deps, row: SenderRow, fault: string | null): Promise<SenderRow> {
  if (row.status === "VERIFIED") return row;
  const patch = fault === null ? { status: "VERIFIED" as const, verifiedAt: deps.clock.now(), lastError: null } : { lastError: fault };
  await tx.update(tx.t.senders).set(patch).where(eq(tx.t.senders.id, row.id));
  return { ...row, ...patch };
}

/** Asks the domain name system whether a domain's record is there: null when it is, else what was found. */
export async function checkDomain(deps: Deps, row: SenderRow): Promise<string | null> {
  const wanted = buildDnsRecord(row);
  try {
    const found = await deps.dns.txt(wanted.name);
    if (found.some((text) => text.trim() === wanted.value)) return null;
    return found.length === 0
      ? `There is no TXT record at ${wanted.name} yet.`
      : `The TXT record at ${wanted.name} is another one: expected ${wanted.value}.`;
  } catch (error) {
    return `The name servers of ${row.value} did not answer (${String((error as { code?: string }).code ?? "error")}).`;
  }
}

/** The sender behind the token of a confirmation link. Throws ApiError not_found. */
export async function findSenderByToken(q: Tx | Reader, token: string): Promise<SenderRow> {
  const [row] = await q
    .select()
    .from(q.t.senders)
    .where(and(eq(q.t.senders.token, token), eq(q.t.senders.kind, "address")));
  if (!row)
    throw new ApiError("not_found", "This link is not valid, or the sender was removed.", { hint: "Ask for a new confirmation mail." });
  return row;
}

// Domains nobody can own (RFC 2606): on a laptop they may send without being added.
const RESERVED = /(?:^|\.)(?:test|example)$/;

const ph = sql.placeholder;

/**
 * Throws ApiError sender_not_verified, about the field `path`, unless the address or its whole domain is verified (SPEC 7).
 * No promise where memory knows.
 */
export function assertVerified(tx: Tx, deps: Deps, workspaceId: string, from: Mailbox, path = "from"): void | Promise<void> {
  if (deps.config.dev && RESERVED.test(from.domain)) return;
  const address = from.key;
  if (!deps.verified.has(workspaceId, address)) return assertStored(tx, deps, workspaceId, from, address, path);
}

export function listSenders(
  read: Reader,
  workspaceId: string,
  input: PageInput & { status?: Sender["status"] | undefined },
): Promise<Page<Sender>> {
  const { senders: t } = read.t;
  const where = and(eq(t.workspaceId, workspaceId), input.status && eq(t.status, input.status));
  return listPage(read, input, { table: t, where, toItem: toSender });
}

async function assertStored(tx: Tx, deps: Deps, workspaceId: string, from: Mailbox, address: string, path: string): Promise<void> {
  const found = await tx
    .prepared("is_verified", (q, { senders: t }) =>
      q
        .select({ id: t.id })
        .from(t)
        .where(and(eq(t.workspaceId, ph("workspaceId")), inArray(t.value, [ph("address"), ph("domain")]), eq(t.status, "VERIFIED")))
        .prepare("is_verified"),
    )
    .execute({ workspaceId, address, domain: from.domain });
  if (found.length > 0) {
    // Not before its own verification is durable, if it was verified in this very transaction.
    tx.afterCommit(() => deps.verified.add(workspaceId, address));
    return;
  }
  throw new ApiError(
    "sender_not_verified",
    `${from.address} is not a verified sender of this workspace, and neither is the domain ${from.domain}.`,
    {
      details: [{ path, code: "sender_not_verified", message: `Verify ${from.address} or ${from.domain} first.` }],
      hint: `Add and verify it: mailsvc senders create --email ${from.address}`,
    },
  );
}

function isUnique(error: unknown): boolean {
  return error instanceof UniqueViolation;
}
