import {
  contract,
  LIST_LIMITS,
  type List,
  listRecipients,
  type NamedRecipient,
  type Segment,
  type SegmentRule,
} from "@mailsvc/sdk/contract";
import * as z from "zod";
import { findContactByEmail } from "../../contacts/contacts.ts";
import { notFound, nullIfNotFound } from "../../lib/api-error.ts";
import { getListRow, listListsOfContact } from "../../lists/lists.ts";
import { findSegmentRow } from "../../segments/segments.ts";
import type { Reads, Writes } from "../operation.ts";
import { idOf } from "./ids.ts";

/** What people get of a topic: all of its mail, or none. */
export const Subscription = z.enum(["opt_in", "opt_out"]);
export type Subscription = z.output<typeof Subscription>;

/** The choices of one contact. */
export const TopicChoices = z.array(z.object({ id: idOf("topics"), subscription: Subscription })).max(50);
type TopicChoices = z.output<typeof TopicChoices>;

/**
 * A topic. One that people opt in to is a public list of those who did. One that everybody has before choosing is a segment of all contacts
 * but those of a private list, of who opted out.
 */
export interface Topic {
  /** The id of the list or of the segment. */
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly createdAt: string;
  readonly default: Subscription;
  /** The list of the contacts that chose otherwise. */
  readonly listId: string;
}

/** The part of a topic that decides who gets its mail. */
type Choice = Pick<Topic, "default" | "listId">;

// Lists and segments are read by this many at a time, so far.
const PAGE = 100;
const MAX_PAGES = 20;

/** All topics, newest first. */
export async function listTopics({ read }: Reads): Promise<Topic[]> {
  const lists = await readAll((page) => read(contract.lists.list, page));
  const segments = await readAll((page) => read(contract.segments.list, page));
  const byId = new Map(lists.map((list) => [list.id, list]));
  return [...lists.flatMap((list) => (list.public ? [ofList(list)] : [])), ...segments.flatMap((segment) => ofSegment(segment, byId))].sort(
    (a, b) => (toSuffix(a.id) < toSuffix(b.id) ? 1 : -1),
  );
}

/** Throws ApiError not_found, also for a list that people do not see: it is a segment of Resend's. */
export async function getTopic(id: string, { read }: Reads): Promise<Topic> {
  const list = await nullIfNotFound(read(contract.lists.get, { id }));
  if (list?.public) return ofList(list);
  const segment = await nullIfNotFound(read(contract.segments.get, { id: toSegmentId(id) }));
  const left = segment && (await nullIfNotFound(read(contract.lists.get, { id: readLeftList(segment.rules) ?? "" })));
  const [topic] = segment && left ? ofSegment(segment, new Map([[left.id, left]])) : [];
  if (!topic) throw notFound("topic", id);
  return topic;
}

/** Adds a topic that nobody or, with `opt_in`, everybody has before choosing. Gives its id. */
export async function createTopic(
  { name, description, subscription }: { name: string; description: string | null; subscription: Subscription },
  { write }: Writes,
): Promise<string> {
  const described = description === null ? {} : { description };
  if (subscription === "opt_out") return (await write(contract.lists.create, { name, public: true, ...described })).id;
  const { id: listId } = await write(contract.lists.create, { name: nameLeftList(name), public: false });
  return (await write(contract.segments.create, { name, ...described, rules: buildLeftRule(listId) })).id;
}

export async function changeTopic(topic: Topic, change: { name?: string; description?: string }, { write }: Writes): Promise<void> {
  if (topic.default === "opt_out") return void (await write(contract.lists.update, { id: topic.listId, ...change }));
  await write(contract.segments.update, { id: topic.id, ...change });
  if (change.name !== undefined) await write(contract.lists.update, { id: topic.listId, name: nameLeftList(change.name) });
}

export async function deleteTopic({ id, listId, default: subscription }: Topic, { write }: Writes): Promise<void> {
  if (subscription === "opt_in") await write(contract.segments.delete, { id });
  await write(contract.lists.delete, { id: listId });
}

/** What a contact with these lists gets of a topic. */
export function readSubscription({ default: subscription, listId }: Choice, lists: ReadonlySet<string>): Subscription {
  if (!lists.has(listId)) return subscription;
  return subscription === "opt_in" ? "opt_out" : "opt_in";
}

/** Stores the same choices for up to 1,000 contacts, by their ids or addresses. Throws ApiError not_found. */
export async function chooseTopics(contacts: string[], topics: TopicChoices, calls: Writes): Promise<void> {
  for (const { id: named, subscription } of topics) {
    const { listId, default: usual } = await getTopic(named, calls);
    await calls.write(subscription === usual ? contract.lists.remove : contract.lists.add, { id: listId, contacts });
  }
}

/** The topic of a mail, and who it goes to. */
export interface TopicOfMail {
  readonly id: string;
  readonly recipients: readonly Pick<NamedRecipient["box"], "key" | "address">[];
}

/** The topic of a mail whose fields were checked; null for none. */
export function toTopicOfMail(id: string | null, fields: Parameters<typeof listRecipients>[0]): TopicOfMail | null {
  return id === null ? null : { id, recipients: listRecipients(fields).map(({ box }) => box) };
}

/**
 * The keys of recipients who get nothing of a topic: contacts that opted out, and whoever is no contact if the topic is opted in to. Needs
 * no permission of its own, because a key that may send may ask for it. Throws ApiError not_found.
 */
export async function findOptedOut({ id, recipients }: TopicOfMail, calls: Reads): Promise<ReadonlySet<string>> {
  const { rows, workspaceId } = calls;
  const topic = await getChoice(id, calls);
  const out = new Set<string>();
  for (const { key, address } of recipients) {
    const contact = await findContactByEmail(rows, workspaceId, address);
    const lists = contact === null ? [] : await listListsOfContact(rows, contact.seq);
    if (readSubscription(topic, new Set(lists.map((list) => list.id))) === "opt_out") out.add(key);
  }
  return out;
}

/** The rule of contacts of a list that get a topic's mail. */
export function buildTopicRule(listId: string, topic: Topic): SegmentRule {
  const chose: SegmentRule = { field: "lists", operator: topic.default === "opt_in" ? "notContains" : "contains", value: topic.listId };
  return { all: [{ field: "lists", operator: "contains", value: listId }, chose] };
}

async function getChoice(id: string, { rows, workspaceId }: Reads): Promise<Choice> {
  const list = await nullIfNotFound(getListRow(rows, workspaceId, id));
  if (list?.public) return { default: "opt_out", listId: list.id };
  const segment = await findSegmentRow(rows, workspaceId, toSegmentId(id));
  const left = segment && (await nullIfNotFound(getListRow(rows, workspaceId, readLeftList(segment.rules) ?? "")));
  if (!segment || !left || !isLeftList(left, segment)) throw notFound("topic", id);
  return { default: "opt_in", listId: left.id };
}

function ofList({ id, name, description, createdAt }: List): Topic {
  return { id, name, description, createdAt, default: "opt_out", listId: id };
}

/** The topic of a segment; none for a segment of another kind. */
function ofSegment({ id, name, description, createdAt, rules }: Segment, lists: ReadonlyMap<string, List>): Topic[] {
  const left = lists.get(readLeftList(rules) ?? "");
  return left && isLeftList(left, { name }) ? [{ id, name, description, createdAt, default: "opt_in", listId: left.id }] : [];
}

function buildLeftRule(listId: string): SegmentRule {
  return { field: "lists", operator: "notContains", value: listId };
}

/** The list of a rule that `buildLeftRule` made; null for any other rule. */
function readLeftList(rule: SegmentRule): string | null {
  return "field" in rule && rule.field === "lists" && rule.operator === "notContains" && typeof rule.value === "string" ? rule.value : null;
}

// A segment that somebody made by hand is no topic, so the list says by its name what it is for.
function nameLeftList(topic: string): string {
  return `Opted out of ${topic}`.slice(0, LIST_LIMITS.name);
}

function isLeftList(list: { readonly name: string; readonly public: boolean }, { name }: { readonly name: string }): boolean {
  return !list.public && list.name === nameLeftList(name);
}

/** The id of the segment that a topic may be: a UUID says nothing of the prefix. */
function toSegmentId(id: string): string {
  return `seg_${toSuffix(id)}`;
}

function toSuffix(id: string): string {
  return id.slice(id.indexOf("_") + 1);
}

interface Listed<T> {
  readonly data: readonly T[];
  readonly pagination: { readonly nextCursor: string | null };
}

/** All items of a list of the contract, as far as a few thousand. */
export async function readAll<T>(load: (page: { limit: number; cursor?: string }) => Promise<Listed<T>>): Promise<T[]> {
  const all: T[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { data, pagination } = await load({ limit: PAGE, ...(cursor !== undefined && { cursor }) });
    all.push(...data);
    if (pagination.nextCursor === null) break;
    cursor = pagination.nextCursor;
  }
  return all;
}
