import { EMAIL_STATES, EMAIL_STATUSES, parseAnyMailbox } from "@mailsvc/sdk/contract";
import { and, eq, exists, inArray, isNotNull, ne, or, type SQL } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import type { PendingMail } from "../delivery/delivery.ts";

/** Fields of a mail that decide which relay it names. */
interface NamingMail {
  readonly email: Pick<PendingMail["email"], "workspaceId" | "campaignId">;
  readonly contents: Pick<PendingMail["contents"], "from">;
}

/**
 * The relays that mails name, in their order; null for one that names none. The first of these that names one counts: the campaign, the
 * sender's address, the sender's domain, the workspace.
 */
export async function findNamedRelays(read: Reader, mails: readonly NamingMail[]): Promise<(string | null)[]> {
  const [ofCampaigns, ofSenders, ofWorkspaces] = await Promise.all([
    loadCampaigns(read, mails),
    loadSenders(read, mails),
    loadWorkspaces(read, mails),
  ]);
  return mails.map(({ email: { workspaceId, campaignId }, contents }) => {
    const { key, domain } = parseAnyMailbox(contents.from);
    return (
      (campaignId === null ? undefined : ofCampaigns.get(campaignId)) ??
      ofSenders.get(`${workspaceId} ${key}`) ??
      ofSenders.get(`${workspaceId} ${domain}`) ??
      ofWorkspaces.get(workspaceId) ??
      null
    );
  });
}

/** The names of relays that anything names, each once. */
export async function listNames(read: Reader): Promise<string[]> {
  const { campaigns: c, senders, workspaces } = read.t;
  const rows = await Promise.all([
    read.selectDistinct({ relay: c.relay }).from(c).where(isNamingCampaign(read)),
    ...[senders, workspaces].map((t) => read.selectDistinct({ relay: t.relay }).from(t).where(isNotNull(t.relay))),
  ]);
  return [...new Set(rows.flat().flatMap(({ relay }) => relay ?? []))];
}

/** Condition on campaigns: it names a relay, and may still send. A sent campaign does while its mail is retried. */
export function isNamingCampaign(read: Reader): SQL | undefined {
  const { campaigns: c, emails: e } = read.t;
  const open = EMAIL_STATUSES.filter((status) => EMAIL_STATES[status].open);
  const waits = read
    .select({ id: e.id })
    .from(e)
    .where(and(isNotNull(e.campaignId), eq(e.campaignId, c.id), inArray(e.status, open)));
  return and(isNotNull(c.relay), ne(c.status, "CANCELLED"), or(ne(c.status, "SENT"), exists(waits)));
}

type Names = ReadonlyMap<string, string>;

async function loadCampaigns(read: Reader, mails: readonly NamingMail[]): Promise<Names> {
  const { campaigns: t } = read.t;
  const ids = [...new Set(mails.flatMap(({ email }) => email.campaignId ?? []))];
  if (ids.length === 0) return new Map();
  const rows = await read
    .select({ id: t.id, relay: t.relay })
    .from(t)
    .where(and(inArray(t.id, ids), isNotNull(t.relay)));
  return new Map(rows.flatMap(({ id, relay }) => (relay === null ? [] : [[id, relay]])));
}

async function loadSenders(read: Reader, mails: readonly NamingMail[]): Promise<Names> {
  const { senders: t } = read.t;
  const boxes = [...new Set(mails.map(({ contents }) => contents.from))].map((from) => parseAnyMailbox(from));
  const values = [...new Set(boxes.flatMap(({ key, domain }) => [key, domain]))];
  const rows = await read
    .select({ workspaceId: t.workspaceId, value: t.value, relay: t.relay })
    .from(t)
    .where(and(inArray(t.workspaceId, listWorkspaces(mails)), inArray(t.value, values), isNotNull(t.relay)));
  return new Map(rows.flatMap(({ workspaceId, value, relay }) => (relay === null ? [] : [[`${workspaceId} ${value}`, relay]])));
}

async function loadWorkspaces(read: Reader, mails: readonly NamingMail[]): Promise<Names> {
  const { workspaces: t } = read.t;
  const rows = await read
    .select({ id: t.id, relay: t.relay })
    .from(t)
    .where(and(inArray(t.id, listWorkspaces(mails)), isNotNull(t.relay)));
  return new Map(rows.flatMap(({ id, relay }) => (relay === null ? [] : [[id, relay]])));
}

function listWorkspaces(mails: readonly NamingMail[]): string[] {
  return [...new Set(mails.map(({ email }) => email.workspaceId))];
}
