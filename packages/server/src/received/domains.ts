import { type InboundDomain, type Page, toDomain } from "@mailsvc/sdk/contract";
import { and, asc, eq, isNotNull, lte, ne, or } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { UniqueViolation } from "../db/errors.ts";
import { findRows } from "../db/find.ts";
import { listPage, type PageInput } from "../db/pagination.ts";
import { ApiError, notFound } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import type { DomainRecords } from "../lib/domain-records.ts";
import { HOUR, MINUTE } from "../lib/units.ts";
import type { JobHandler } from "../queue/queue.ts";
import { buildDnsRecord, type CheckedDomains, lookForRecord, type RecordLook, storeLook } from "../senders/senders.ts";
import type { ReceivedDeps } from "./received.ts";
import { IS_VERIFIED, type ReceivedTables } from "./tables.ts";

/*
 * The states of an inbound domain.
 *
 * | domain   | its record is found                       | removed |
 * | -------- | ----------------------------------------- | ------- |
 * | PENDING  | VERIFIED, unless another workspace has it | gone    |
 * | VERIFIED | –                                         | gone    |
 *
 * `senders/recheck.ts` handles verified domains whose records disappear.
 */

/** Configuration that tells the host name of this server. */
type DomainPlace = Pick<ReceivedDeps, "baseUrl"> & { readonly config: Pick<ReceivedDeps["config"], "inboundDomain"> };

type Row = ReceivedTables["inboundDomains"]["$inferSelect"];

/** The kind of the job that looks for the record of a domain. */
export const CHECK_INBOUND_JOB = "inboundDomains.check";
/** The kind of the job that looks for the records of verified domains; one of it always waits. */
export const RECHECK_INBOUND_JOB = "inboundDomains.recheck";

// A record may be published late, so the check is repeated every five minutes for three days.
const CHECK_EVERY = 5 * MINUTE;
const CHECK_FOR = 72 * HOUR;

const MX_PRIORITY = 10;

/** The domains of a workspace, newest first. */
export function listDomains(read: Reader, deps: ReceivedDeps, workspaceId: string, input: PageInput): Promise<Page<InboundDomain>> {
  const { inboundDomains: t } = read.t;
  return listPage(read, input, { table: t, where: eq(t.workspaceId, workspaceId), toItem: (row) => toInboundDomain(deps, row) });
}

/** Adds a domain and starts its verification; in dev mode it is verified at once. Throws ApiError conflict. */
export async function addDomain(tx: Tx, deps: ReceivedDeps, workspaceId: string, name: string): Promise<InboundDomain> {
  const domain = toDomain(name);
  if (domain === deps.config.inboundDomain || domain === deps.config.replyDomain)
    throw new ApiError("conflict", `${domain} is the inbound domain of this server.`, { hint: "Use another domain, or a subdomain." });
  const now = deps.clock.now();
  const row: Row = {
    id: deps.ids("ind"),
    workspaceId,
    domain,
    status: deps.config.dev ? "VERIFIED" : "PENDING",
    token: Buffer.from(deps.random.bytes(24)).toString("hex"),
    lastError: null,
    checkedAt: null,
    failingSince: null,
    createdAt: now,
    verifiedAt: deps.config.dev ? now : null,
  };
  if (row.status === "VERIFIED") await assertFree(tx, row);
  try {
    await tx.insert(tx.t.inboundDomains).values(row);
  } catch (error) {
    if (!(error instanceof UniqueViolation)) throw error;
    throw new ApiError("conflict", `${domain} is already an inbound domain.`, { hint: "See: mailsvc inbound-domains list" });
  }
  if (row.status === "PENDING") await deps.queue.enqueue(tx, { kind: CHECK_INBOUND_JOB, payload: { workspaceId, domainId: row.id } });
  return toInboundDomain(deps, row);
}

/** The domain of a workspace with this name, and the host that its MX should name; null if the workspace does not receive its mail. */
export async function findInboundDomain(
  read: Reader,
  deps: DomainPlace,
  workspaceId: string,
  domain: string,
): Promise<{ readonly domain: string; readonly host: string } | null> {
  const [row] = await findRows(read, read.t.inboundDomains, { workspaceId, domain });
  return row ? { domain, host: findHost(deps) } : null;
}

/** One domain. Throws ApiError not_found. */
export async function getDomainRow(q: Tx | Reader, workspaceId: string, id: string): Promise<Row> {
  const [row] = await findRows(q, q.t.inboundDomains, { id });
  if (row?.workspaceId !== workspaceId) throw notFound("inbound domain", id);
  return row;
}

/** Deletes a domain; later mail to it is refused. Throws ApiError not_found. */
export async function removeDomain(tx: Tx, deps: ReceivedDeps, workspaceId: string, id: string): Promise<InboundDomain> {
  const row = await getDomainRow(tx, workspaceId, id);
  await tx.delete(tx.t.inboundDomains).where(eq(tx.t.inboundDomains.id, id));
  return toInboundDomain(deps, row);
}

/**
 * Stores what a look for the record found: without a fault, control is proven. Throws ApiError conflict when another workspace has the
 * domain.
 */
export async function recordCheck(tx: Tx, deps: ReceivedDeps, row: Row, look: RecordLook): Promise<InboundDomain> {
  const now = deps.clock.now();
  // In dev mode nothing has to be proven.
  if (row.status === "VERIFIED" && row.checkedAt === null) return toInboundDomain(deps, row);
  if (row.status === "VERIFIED") {
    const state = await storeLook(tx, deps, checkedInboundDomains(deps), { ...row, value: row.domain }, look);
    return toInboundDomain(deps, { ...row, ...state });
  }
  if (look.fault === null) await assertFree(tx, row);
  const patch: Partial<Row> =
    look.fault === null ? { status: "VERIFIED", verifiedAt: now, checkedAt: now, lastError: null } : { lastError: look.fault };
  try {
    await tx.update(tx.t.inboundDomains).set(patch).where(eq(tx.t.inboundDomains.id, row.id));
  } catch (error) {
    // Another workspace proved it in the same moment.
    if (error instanceof UniqueViolation) throw takenByOther(row);
    throw error;
  }
  return toInboundDomain(deps, { ...row, ...patch });
}

/** Looks for the TXT record of a domain, which proves control; once it is verified, for the MX record too, which leads its mail here. */
export async function checkRecords(
  deps: DomainPlace & Pick<ReceivedDeps, "dns">,
  { domain, token, status }: Pick<Row, "domain" | "token" | "status">,
): Promise<RecordLook> {
  const look = await lookForRecord(deps, { value: domain, token });
  return status === "PENDING" || look.fault !== null ? look : lookForMx(deps.dns, domain, findHost(deps));
}

/** The verified inbound domains whose records are looked for. */
export function checkedInboundDomains(deps: DomainPlace & Pick<ReceivedDeps, "db" | "dns">): CheckedDomains {
  const { db } = deps;
  return {
    idName: "inboundDomainId",
    findDue: async ({ since, missingSince, limit }) => {
      const { inboundDomains: t } = db.read.t;
      const isDue = or(lte(t.checkedAt, since), and(isNotNull(t.failingSince), lte(t.checkedAt, missingSince)));
      const rows = await db.read
        .select()
        .from(t)
        .where(and(IS_VERIFIED, isNotNull(t.checkedAt), isDue))
        .orderBy(asc(t.checkedAt))
        .limit(limit);
      return rows.map(({ domain, ...row }) => ({ ...row, value: domain }));
    },
    find: async (tx, id) => {
      const [row] = await findRows(tx, tx.t.inboundDomains, { id, status: "VERIFIED" });
      return row ? { ...row, value: row.domain } : null;
    },
    look: ({ value, token }) => checkRecords(deps, { domain: value, token, status: "VERIFIED" }),
    save: async (tx, id, state) => void (await tx.update(tx.t.inboundDomains).set(state).where(eq(tx.t.inboundDomains.id, id))),
  };
}

/** Looks for the record of a domain until it is there. */
export function checkInboundDomain(deps: ReceivedDeps): JobHandler {
  return async ({ payload }) => {
    const [row] = await findRows(deps.db.read, deps.db.read.t.inboundDomains, { id: String(payload.domainId) });
    if (row?.status !== "PENDING") return {};
    const look = await checkRecords(deps, row);
    const fault = look.fault ?? (await describeOwner(deps.db.read, row));
    const next = deps.clock.now() + CHECK_EVERY;
    return {
      // It may have been removed, or verified, while the name servers were asked.
      commit: async (tx) => {
        const [now] = await findRows(tx, tx.t.inboundDomains, { id: row.id });
        if (now?.status === "PENDING") await recordCheck(tx, deps, now, { ...look, fault });
      },
      ...(fault !== null && next < row.createdAt + CHECK_FOR && { again: next }),
    };
  };
}

/** A domain as the API shows it. */
export function toInboundDomain(deps: DomainPlace, row: Row): InboundDomain {
  const { type, name, value } = buildDnsRecord({ value: row.domain, token: row.token });
  return {
    id: row.id,
    domain: row.domain,
    status: row.status,
    dnsRecords: [
      { type, name, value, priority: null },
      { type: "MX", name: row.domain, value: findHost(deps), priority: MX_PRIORITY },
    ],
    lastError: row.lastError,
    failingSince: row.failingSince === null ? null : iso(row.failingSince),
    createdAt: iso(row.createdAt),
    verifiedAt: row.verifiedAt === null ? null : iso(row.verifiedAt),
  };
}

/** Returns the host at which this server accepts mail. */
function findHost({ config, baseUrl }: DomainPlace): string {
  return config.inboundDomain ?? new URL(baseUrl()).hostname;
}

async function assertFree(tx: Tx, row: Row): Promise<void> {
  if ((await describeOwner(tx, row)) !== null) throw takenByOther(row);
}

function takenByOther(row: Row): ApiError {
  return new ApiError("conflict", describeTaken(row), { hint: "It must be removed there first." });
}

function describeTaken({ domain }: Pick<Row, "domain">): string {
  return `Another workspace of this server receives the mail of ${domain}.`;
}

/** Says that another workspace has the domain; null if none has. */
async function describeOwner(q: Tx | Reader, { workspaceId, domain }: Row): Promise<string | null> {
  const { inboundDomains: t } = q.t;
  const [other] = await q
    .select({ id: t.id })
    .from(t)
    .where(and(eq(t.domain, domain), IS_VERIFIED, ne(t.workspaceId, workspaceId)));
  return other ? describeTaken({ domain }) : null;
}

/** Looks whether the MX records of a domain lead its mail to a host: one names it, or the first one leads to the same address. */
async function lookForMx(dns: Pick<DomainRecords, "mx" | "addresses">, domain: string, host: string): Promise<RecordLook> {
  try {
    const names = (await dns.mx(domain)).map(({ exchange }) => exchange.toLowerCase().replace(/\.$/, "")).filter(Boolean);
    const [first] = names;
    if (first === undefined) return { fault: `There is no MX record at ${domain}, so its mail does not come here.`, answered: true };
    if (names.includes(host)) return { fault: null, answered: true };
    const [here, there] = await Promise.all([host, first].map((name) => dns.addresses(name)));
    const fault = here?.some((address) => there?.includes(address))
      ? null
      : `The MX record at ${domain} names ${names.slice(0, 3).join(", ")}, not ${host}, so its mail does not come here.`;
    return { fault, answered: true };
  } catch (error) {
    const code = String((error as { code?: string }).code ?? "error");
    return { fault: `The name servers of ${domain} did not answer (${code}).`, answered: false };
  }
}
