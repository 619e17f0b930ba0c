import type { Universe } from "../universe.ts";
import { type Invariant, readAllRows } from "./invariant.ts";

export const LEFT: Invariant = {
  name: "left",
  promise: "No row is left behind by what ended.",
  says: [
    "A record that belongs to another one goes with it: the tags and memberships of a contact that was deleted, the members of a list or segment, the entries and versions of an automation, the content of mail that nothing sends any more, the deliveries of a webhook that is gone, the attempts of a delivery, the numbers of events.",
    "What is kept for the time something is under way is gone afterwards: the audience that a campaign still had to read, events of an agent that were held during a pause, events without a number, domains whose mail was held, stored answers of requests that are older than a day, imports that can be undone that are older than a week.",
    "Whoever is inside an automation has an entry that is active, and the other way round.",
  ],
  check: async (universe) => {
    const rows = await readAllRows(universe);
    return [...findOrphans(rows), ...findOver(universe, rows), ...findMismatched(rows)];
  },
};

type Rows = ReadonlyMap<string, readonly Record<string, unknown>[]>;

/** A column whose values are those of a column of one of the other tables. */
type Reference = readonly [table: string, column: string, ...owners: (readonly [table: string, column: string])[]];

const REFERENCES: readonly Reference[] = [
  ["contact_tags", "contactSeq", ["contacts", "seq"]],
  ["list_members", "contactSeq", ["contacts", "seq"]],
  ["list_members", "listSeq", ["lists", "seq"]],
  ["contact_actions", "contactSeq", ["contacts", "seq"]],
  ["segment_members", "contactSeq", ["contacts", "seq"]],
  ["segment_members", "segmentSeq", ["segments", "seq"]],
  ["automation_versions", "automationId", ["automations", "id"]],
  ["automation_contacts", "automationId", ["automations", "id"]],
  ["automation_entries", "automationId", ["automations", "id"]],
  ["automation_moves", "entryId", ["automation_entries", "id"]],
  ["campaign_contents", "campaignId", ["campaigns", "id"]],
  ["campaign_audience", "campaignId", ["campaigns", "id"]],
  ["campaign_reactions", "campaignId", ["campaigns", "id"]],
  ["campaign_reactions", "emailId", ["emails", "id"]],
  ["campaign_link_clicks", "emailId", ["emails", "id"]],
  ["emails", "contentsId", ["contents", "id"]],
  ["contents", "id", ["emails", "contentsId"], ["campaign_contents", "contentsId"]],
  ["attachments", "contentsId", ["contents", "id"]],
  ["email_labels", "emailId", ["emails", "id"]],
  ["engagements", "emailId", ["emails", "id"]],
  ["webhook_deliveries", "endpointId", ["developer_webhooks", "id"]],
  ["webhook_deliveries", "eventKey", ["events", "sequence"]],
  ["webhook_attempts", "eventId", ["webhook_deliveries", "id"], ["webhook_events", "id"]],
  ["held_emails", "domain", ["held_domains", "domain"]],
  ["inbox_parts", "mailId", ["inbox", "id"]],
  ["run_logs", "run", ["runs", "id"]],
  ["approvals", "messageId", ["messages", "id"]],
  ["contact_import_rows", "importId", ["contact_imports", "id"]],
];

function findOrphans(rows: Rows): string[] {
  return REFERENCES.flatMap(([table, column, ...owners]) => {
    const known = new Set(owners.flatMap(([owner, key]) => (rows.get(owner) ?? []).map((row) => row[key])));
    const lost = (rows.get(table) ?? []).filter((row) => row[column] !== null && !known.has(row[column]));
    if (lost.length === 0) return [];
    const names = owners.map(([owner]) => owner).join(" or ");
    return [
      `${lost.length} rows of ${table} name a ${column} that ${names} does not have, such as ${JSON.stringify(lost[0]).slice(0, 300)}.`,
    ];
  });
}

const DAY = 86_400_000;

/** Lists rows that are kept only while something is under way, although it is over. */
function findOver(universe: Universe, rows: Rows): string[] {
  const now = universe.now();
  const idsOf = (table: string, status: readonly string[]): Set<unknown> =>
    new Set((rows.get(table) ?? []).filter((row) => status.includes(String(row["status"]))).map(({ id }) => id));
  const [reading, paused] = [idsOf("campaigns", ["SENDING", "PAUSED"]), idsOf("activations", ["paused"])];
  const over: readonly (readonly [table: string, isOver: (row: Record<string, unknown>) => boolean])[] = [
    ["campaign_audience", ({ campaignId }) => !reading.has(campaignId)],
    ["held_agent_events", ({ activationId }) => !paused.has(activationId)],
    ["event_arrivals", () => true],
    ["idempotency", ({ createdAt }) => Number(createdAt) < now - 3 * DAY],
    ["contact_imports", ({ createdAt }) => Number(createdAt) < now - 9 * DAY],
    ["held_requests", () => true],
  ];
  return over.flatMap(([table, isOver]) => {
    const left = (rows.get(table) ?? []).filter(isOver);
    return left.length === 0 ? [] : [`${left.length} rows of ${table} are left, such as ${JSON.stringify(left[0]).slice(0, 300)}.`];
  });
}

function findMismatched(rows: Rows): string[] {
  const events = (rows.get("events") ?? []).map(({ sequence }) => Number(sequence));
  const empty = (rows.get("event_runs") ?? []).filter(({ key, length }) => {
    const end = Number(key) + Number(length);
    return !events.some((sequence) => sequence >= Number(key) && sequence < end);
  });
  const inside = new Set((rows.get("automation_contacts") ?? []).filter((row) => row["inside"]).map(({ entryId }) => entryId));
  const active = (rows.get("automation_entries") ?? []).filter(({ status }) => status === "ACTIVE").map(({ id }) => id);
  const lost = active.filter((id) => !inside.delete(id));
  return [
    ...empty.map(({ key }) => `The numbers from the event with the key ${key} on have no event.`),
    ...lost.map((id) => `The entry ${id} is active, and its contact does not count as inside.`),
    ...[...inside].map((id) => `A contact counts as inside by the entry ${id}, which is not active.`),
  ];
}
