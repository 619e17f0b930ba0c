import type { Explanation } from "@mailsvc/sdk/contract";
import { listSentDeliveries } from "../developer-webhooks/developer-webhooks.ts";
import { getEmailHistory, listRecentEmails } from "../emails/emails.ts";
import { listRecentEvents } from "../events/events.ts";
import { getMail, listMail } from "../inbox/inbox.ts";
import { ApiError } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { getSentEvent, listSentEvents } from "../marketplace/marketplace.ts";
import type { Line, LineOf } from "./lines.ts";
import type { RecordingDeps } from "./recording.ts";
import type { SecretFilter } from "./secrets.ts";

/** The most that is recorded of each kind, the newest of them. */
const MOST = { mails: 500, emails: 1000, events: 2000, deliveries: 500, explanations: 200 } as const;
const MAX_RAW = 256 * 1024;
// States that need no explanation.
const ARRIVED: ReadonlySet<string> = new Set(["delivered", "sent"]);

/** Collects the contents of a server's database as lines of a recording, oldest first. `round` counts the resets before. */
export async function collectLines(deps: RecordingDeps, filter: SecretFilter, round: number): Promise<Line[]> {
  const { read } = deps.db;
  const emails = await readEmails(deps, round);
  const deliveries = await readDeliveries(deps, filter, round);
  const events = await listRecentEvents(read, MOST.events);
  return [
    ...(await readMails(deps, filter, round)),
    ...emails,
    ...events.reverse().map(({ data, ...event }) => toEventLine(event, data === null || data === undefined ? null : { ...data }, round)),
    ...deliveries.map(({ line }) => line),
    ...(await readExplanations(deps, emails, deliveries, round)),
  ];
}

function toEventLine(
  { id, workspaceId, type, at }: { id: string; workspaceId: string; type: string; at: string },
  data: Record<string, unknown> | null,
  round: number,
): LineOf<"event"> {
  return { kind: "event", round, id, workspaceId, type, at, data };
}

async function readMails({ db: { read } }: RecordingDeps, filter: SecretFilter, round: number): Promise<LineOf<"mail">[]> {
  const lines: LineOf<"mail">[] = [];
  let cursor: string | undefined;
  do {
    const { data, pagination } = await listMail(read, { page: 1, limit: 100, ...(cursor !== undefined && { cursor }) });
    for (const { id, workspaceId, emailId, to, from, subject, receivedAt, size } of data) {
      const { raw } = await getMail(read, id);
      const cleaned = cleanMail(Buffer.from(raw.subarray(0, 4 * MAX_RAW)).toString("latin1"), filter).slice(0, MAX_RAW);
      lines.push({ kind: "mail", round, id, workspaceId, emailId, to, from, subject, receivedAt, size, raw: cleaned });
    }
    cursor = pagination.nextCursor ?? undefined;
  } while (cursor !== undefined && lines.length < MOST.mails);
  return lines.reverse();
}

async function readEmails({ db: { read } }: RecordingDeps, round: number): Promise<LineOf<"email">[]> {
  const lines: LineOf<"email">[] = [];
  for (const { workspaceId, id } of await listRecentEmails(read, MOST.emails)) {
    const { to, from, subject, status, createdAt, attempts, lastError, events } = await getEmailHistory(read, workspaceId, id);
    lines.push({ kind: "email", round, id, workspaceId, to, from, subject, status, createdAt, attempts, lastError, events });
  }
  return lines.reverse();
}

interface ReadDelivery {
  readonly line: LineOf<"delivery">;
  /** The workspace whose key may ask for it; null for those of agents, which belong to builders. */
  readonly workspaceId: string | null;
}

async function readDeliveries({ db: { read } }: RecordingDeps, filter: SecretFilter, round: number): Promise<ReadDelivery[]> {
  const found: ReadDelivery[] = [];
  for (const { slug, id } of await listSentEvents(read, MOST.deliveries)) {
    const { type, state, body, log } = await getSentEvent(read, slug, id);
    found.push({ line: { kind: "delivery", round, id, type, state, body, log, receiver: `agent ${slug}` }, workspaceId: null });
  }
  for (const { workspaceId, id, type, state, body, log, url } of await listSentDeliveries(read, MOST.deliveries)) {
    filter.learnWebhook(url);
    found.push({ line: { kind: "delivery", round, id, type, state, body: body ?? null, log, receiver: url }, workspaceId });
  }
  return found.reverse();
}

/** Explains mail that did not arrive and webhooks that did not answer: what somebody who opens a recording looks for. */
async function readExplanations(
  { explain }: RecordingDeps,
  emails: readonly LineOf<"email">[],
  deliveries: readonly ReadDelivery[],
  round: number,
): Promise<LineOf<"explanation">[]> {
  const subjects = [
    ...emails.filter(({ status }) => !ARRIVED.has(status)).map(({ workspaceId, id }) => ({ workspaceId, id })),
    ...deliveries.flatMap(({ line, workspaceId }) =>
      line.state === "delivered" || line.log.length === 0 || workspaceId === null ? [] : { workspaceId, id: line.id },
    ),
  ];
  const lines: LineOf<"explanation">[] = [];
  for (const { workspaceId, id } of subjects.slice(-MOST.explanations)) {
    const found = await explain(workspaceId, id).catch(nullIfGone);
    if (found === null) continue;
    const { title, status, summary, timeline, next, actions } = found;
    lines.push({ kind: "explanation", round, id, title, status, summary, timeline, next, actions });
  }
  return lines;
}

function nullIfGone(error: unknown): Explanation | null {
  if (error instanceof ApiError && error.code === "not_found") return null;
  throw error;
}

/** A moment in real time, as a line shows it. */
export function toMoment(ms: number): string {
  return iso(Math.floor(ms));
}

// A mail inside a mail inside a mail …
const MAX_DEPTH = 10;

const ENCODED_WORD = /=\?[^?\s]+\?([bq])\?([^?\s]*)\?=/gi;

/**
 * The bytes of a mail as Latin-1 characters, without secrets: in its headers and in each part of text, whatever their encoding. A part that
 * holds one is written anew, as base64; all others stay as they are.
 */
export function cleanMail(raw: string, filter: SecretFilter, depth = 0): string {
  const [, head = raw, gap = "", body = ""] = /^([\s\S]*?)(\r?\n\r?\n)([\s\S]*)$/.exec(raw) ?? [];
  const headers = unfoldedOf(head);
  const cleaned = cleanHead(head, filter);
  const type = headers.get("content-type") ?? "text/plain";
  const boundary = /^multipart\//i.test(type) ? /boundary="?([^";\r\n]+)"?/i.exec(type)?.[1] : undefined;
  if (boundary !== undefined && depth < MAX_DEPTH) return cleaned + gap + cleanParts(body, boundary, filter, depth);
  if (/^message\/rfc822/i.test(type) && depth < MAX_DEPTH) return cleaned + gap + cleanMail(body, filter, depth + 1);
  if (!/^(?:text\/|message\/|application\/(?:json|xml))/i.test(type)) return cleaned + gap + body;
  return cleanText(cleaned, gap, body, headers.get("content-transfer-encoding")?.trim().toLowerCase() ?? "7bit", filter);
}

function cleanParts(body: string, boundary: string, filter: SecretFilter, depth: number): string {
  const line = `--${boundary}`;
  return body
    .split(line)
    .map((part, i) => {
      // The text before the first part, and what follows the last one.
      if (i === 0 || part.startsWith("--")) return filter.clean(part);
      const [, start = "", rest = ""] = /^(\s*?\r?\n)?([\s\S]*)$/.exec(part) ?? [];
      return start + cleanMail(rest, filter, depth + 1);
    })
    .join(line);
}

function cleanText(head: string, gap: string, body: string, encoding: string, filter: SecretFilter): string {
  if (encoding !== "base64" && encoding !== "quoted-printable") return head + gap + filter.clean(body);
  const text = encoding === "base64" ? Buffer.from(body, "base64").toString("latin1") : decodeQuoted(body);
  const cleaned = filter.clean(text);
  if (cleaned === text) return head + gap + body;
  const written = Buffer.from(cleaned, "latin1").toString("base64").replace(/.{76}/g, "$&\r\n");
  const tail = /\r?\n$/.exec(body)?.[0] ?? "";
  return head.replace(/^content-transfer-encoding:.*(?:\r?\n[ \t].*)*/im, "Content-Transfer-Encoding: base64") + gap + written + tail;
}

/** Headers are cleaned as they stand and, where a secret is broken over lines or encoded, as a reader puts them together. */
function cleanHead(head: string, filter: SecretFilter): string {
  return head
    .split(/\r?\n(?![ \t])/)
    .map((field) => {
      const joined = field.replace(/\r?\n[ \t]+/g, " ").replace(ENCODED_WORD, decodeWord);
      const cleaned = filter.clean(joined);
      return cleaned === joined ? field : cleaned;
    })
    .join("\r\n");
}

function decodeWord(_all: string, kind: string, text: string): string {
  return kind.toLowerCase() === "b" ? Buffer.from(text, "base64").toString("latin1") : decodeQuoted(text.replaceAll("_", " "));
}

function decodeQuoted(text: string): string {
  return text.replace(/=\r?\n/g, "").replace(/=([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function unfoldedOf(head: string): Map<string, string> {
  return new Map(
    head
      .replace(/\r?\n[ \t]+/g, " ")
      .split(/\r?\n/)
      .map((line) => /^([^:\s]+):\s*(.*)$/.exec(line))
      .flatMap((found) => (found ? [[String(found[1]).toLowerCase(), String(found[2])] as const] : [])),
  );
}
