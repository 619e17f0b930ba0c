import { type Dialect, numberEvents, speak } from "../stores.ts";

const EVENTS_OF_MAIL = 3;
export const DAYS = 29;
const DAY_S = 86_400;
export const DOMAINS = 20;
const CONTENTS = 6;

/**
 * Statements that make delivered mail of the last days or seconds, with three events each, in the order of time: to twenty domains, from
 * three senders, of two templates, with one of six tags. The reader of metrics has read none of it.
 */
export function insertMails(dialect: Dialect, workspaceId: string, mails: number, now: number, seconds = DAYS * DAY_S): string[] {
  const { rows, toId, json, big, no } = speak(dialect);
  const n = mails * EVENTS_OF_MAIL;
  const mail = `((i + ${EVENTS_OF_MAIL - 1}) / ${EVENTS_OF_MAIL})`;
  const when = (number: string): string => `${now - seconds * 1000} + ${big(number)} * ${seconds * 1000} / ${mails}`;
  const to = `'u' || i || '@d' || (i % ${DOMAINS}) || '.example'`;
  const step = `(i % ${EVENTS_OF_MAIL})`;
  return [
    `insert into contents (workspace_id, from_text, subject, headers, tags, attachments, template, bypass_unsubscribe)
     select '${workspaceId}', 'Acme <s' || (i % 3) || '@sender.example>', 'Hello', ${json("'{}'")}, ${json(`'{"kind":"k' || i || '"}'`)}, 0, 't' || (i % 2) || '@1', ${no}
     from ${rows(CONTENTS)}`,
    `insert into emails (workspace_id, id, contents_id, to_text, to_key, status, attempts, in_doubt, faults, bytes, relay, created_at, updated_at, sent_at)
     select '${workspaceId}', ${toId("em")}, (select max(id) from contents) - i % ${CONTENTS}, ${to}, ${to}, 'delivered', 1, ${no}, 0, 0, 'main',
       ${when("i")}, ${when("i")} + 900, ${when("i")} + 300 from ${rows(mails)}`,
    `insert into events (workspace_id, type, email_id, at)
     select '${workspaceId}', case ${step} when 1 then 'email.queued' when 2 then 'email.sent' else 'email.delivered' end, ${toId("em", mail)},
       ${when(mail)} + case ${step} when 1 then 0 when 2 then 300 else 900 end from ${rows(n)}`,
    ...numberEvents(dialect, workspaceId, n, ["metrics"]),
  ];
}
