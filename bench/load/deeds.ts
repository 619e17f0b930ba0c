import { type Dialect, numberEvents, speak } from "../stores.ts";

const DAY_S = 86_400;
/** Events of a contact, on average. */
export const EVENTS_EACH = 10;
// Days over which events are spread.
const DAYS = 60;

/** Deeds of people, with their share of a thousand events; the first number is the least of `i % 1000`. */
const KINDS = [
  { action: "opened", from: 0 },
  { action: "did.visit", from: 400 },
  { action: "did.purchase", from: 850 },
  { action: "clicked", from: 950 },
  { action: "did.refund", from: 999 },
] as const;

/**
 * Statements that make contacts, and ten events for each over sixty days: opens, visits, purchases, clicks and a few refunds. Half of the
 * events are of a fifth of the people. `contact_actions` has what the reader of events would write.
 */
export function insertDeeds(dialect: Dialect, workspaceId: string, contacts: number, now: number): string[] {
  const { rows, toId, json, big } = speak(dialect);
  const n = contacts * EVENTS_EACH;
  const who = `(case when i % 2 = 0 then (${big("i")} * 7919) % ${Math.ceil(contacts / 5)} else (${big("i")} * 6101) % ${contacts} end)`;
  const when = `${now} - ((${big("i")} * 104729) % ${DAYS * DAY_S}) * 1000`;
  // Another prime, so that kinds do not follow from people.
  const dice = `((${big("i")} * 31607) % 1000)`;
  const worth = `((${big("i")} * 7127) % 100)`;
  const pick = (value: (action: (typeof KINDS)[number]["action"]) => string): string =>
    `case ${KINDS.toReversed()
      .map(({ action, from }) => `when ${dice} >= ${from} then ${value(action)}`)
      .join(" ")} end`;
  const nameOf = (action: string): string => action.replace("did.", "");
  const isOwn = (action: string): boolean => action.startsWith("did.");
  const email = "'p' || i || '@people.example'";
  return [
    `insert into contacts (id, workspace_id, email, email_key, first_name, last_name, status, tags, custom_fields, search_text, created_at, updated_at)
     select ${toId("con")}, '${workspaceId}', ${email}, ${email}, 'Pat', 'Person', 'SUBSCRIBED', ${json("'[]'")}, ${json(`'{"seats":' || (i % 17) || '}'`)}, '',
       ${now - DAYS * DAY_S * 1000}, ${now - DAYS * DAY_S * 1000} from ${rows(contacts)}`,
    `insert into engagement (contact_seq) select seq from contacts where workspace_id = '${workspaceId}'`,
    ...KINDS.map(({ action }) => `insert into contact_action_kinds (workspace_id, action) values ('${workspaceId}', '${action}')`),
    `insert into events (workspace_id, type, contact_id, at, data)
     select '${workspaceId}', ${pick((action) => (isOwn(action) ? "'contact.tracked'" : `'email.${action}'`))}, ${toId("con", `1 + ${who}`)}, ${when},
       ${json(`'{"name":"' || ${pick((action) => `'${nameOf(action)}'`)} || '","value":' || ${worth} || ',"currency":"EUR"}'`)} from ${rows(n)}`,
    `insert into contact_actions (event_key, contact_seq, kind, at, value)
     select f.key + i - 1, f.seq + ${who}, ${pick((action) => `(select k.seq from contact_action_kinds k where k.action = '${action}' and k.workspace_id = '${workspaceId}')`)}, ${when},
       ${pick((action) => (isOwn(action) ? worth : "null"))}
     from ${rows(n)}, (select (select max(sequence) from events) - ${n - 1} as key, (select max(seq) from contacts) - ${contacts - 1} as seq) f`,
    ...numberEvents(dialect, workspaceId, n),
  ];
}

/** Statements that make segments whose rules name events that nobody tracks. */
export function insertOtherSegments(dialect: Dialect, workspaceId: string, count: number, now: number): string[] {
  const { rows, toId, json, no } = speak(dialect);
  const rules = json(`'{"field":"did.other-' || i || '","operator":"gte","value":2,"within":"30d"}'`);
  return [
    `insert into segments (id, workspace_id, name, rules, timed, state, version, created_at, updated_at)
     select ${toId("seg")}, '${workspaceId}', 'Other ' || i, ${rules}, ${no}, 'READY', 1, ${now}, ${now} from ${rows(count)}`,
    `insert into segment_fields (workspace_id, field, segment_seq)
     select '${workspaceId}', 'did.other-' || (seq - (select max(seq) from segments) + ${count}), seq from segments where name like 'Other %'`,
  ];
}

/** Statements that take back what `insertOtherSegments` inserted. */
export function deleteOtherSegments(): string[] {
  return ["delete from segment_fields where field like 'did.other-%'", "delete from segments where name like 'Other %'"];
}
