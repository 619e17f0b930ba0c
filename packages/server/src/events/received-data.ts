import type { EventData } from "@mailsvc/sdk/contract";
import { asc, inArray } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import type { EventTables } from "./tables.ts";

type EventRow = EventTables["events"]["$inferSelect"];
type Received = EventData["email.received"];
type Shown = Pick<Received, "from" | "fromName" | "subject" | "mailbox" | "attachments">;

/** The data of `email.received` once its mail was deleted. */
const GONE: Shown = { from: null, fromName: null, subject: null, mailbox: null, attachments: [] };

/**
 * Returns the same events, with the sender, mailbox, subject and files in those of `email.received`. They are read from the mail, never
 * stored with the event: nothing of them is left when the mail is deleted, or its sender erased.
 */
export async function addReceivedData<Row extends EventRow>(q: Pick<Reader | Tx, "select" | "t">, events: readonly Row[]): Promise<Row[]> {
  const received = events.filter(({ type }) => type === "email.received");
  if (received.length === 0) return [...events];
  const mails = await loadMails(q, [...new Set(received.map(toReceivedId))]);
  return events.map((event) =>
    event.type === "email.received" ? { ...event, data: { ...event.data, ...(mails.get(toReceivedId(event)) ?? GONE) } } : event,
  );
}

async function loadMails(q: Pick<Reader | Tx, "select" | "t">, ids: readonly string[]): Promise<Map<string, Shown>> {
  const { received: m, receivedFiles: f } = q.t;
  const mails = await q
    .select({ id: m.id, from: m.from, fromName: m.fromName, subject: m.subject, mailbox: m.to, count: m.files })
    .from(m)
    .where(inArray(m.id, [...ids]));
  const withFiles = mails.filter(({ count }) => count > 0).map(({ id }) => id);
  const files =
    withFiles.length === 0
      ? []
      : await q.select().from(f).where(inArray(f.receivedId, withFiles)).orderBy(asc(f.receivedId), asc(f.number));
  const byMail = Map.groupBy(files, ({ receivedId }) => receivedId);
  return new Map(
    mails.map(({ id, count: _count, ...mail }) => [
      id,
      { ...mail, attachments: (byMail.get(id) ?? []).map(({ receivedId: _mail, ...file }) => file) },
    ]),
  );
}

function toReceivedId({ data }: EventRow): string {
  return String(data?.receivedId);
}
