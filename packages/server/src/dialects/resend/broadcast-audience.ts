import { type Campaign, contract, type Event, type EventType, type Recipient, type Segment, type SegmentRule } from "@mailsvc/sdk/contract";
import * as z from "zod";
import { invalid, nullIfNotFound } from "../../lib/api-error.ts";
import { type Operation, type Reads, readOperation, type Writes } from "../operation.ts";
import { answerList, listQuery } from "./lists.ts";
import { buildTopicRule, getTopic, listTopics, readAll, type Topic } from "./topics.ts";

/** The segment and the topic of a broadcast, as its program named them. */
export interface Named {
  readonly segment: string | null;
  readonly topic: string | null;
}

/** The audience of a campaign, with the rules of a segment that is made for it inside the transaction. */
interface Audience {
  readonly fields: { recipientType: "list"; listId: string } | { recipientType: "segment"; segmentId: string };
  readonly missing: { readonly name: string; readonly rules: SegmentRule } | null;
}

/**
 * The audience of those of a segment who get a topic's mail; without a segment, of all who get it. The former is a segment of ours, which
 * broadcasts share. Null if neither is named. Throws ApiError not_found.
 */
export async function findAudience({ segment, topic: named }: Named, calls: Reads): Promise<Audience | null> {
  if (named === null) return segment === null ? null : toList(segment);
  const topic = await getTopic(named, calls);
  if (segment === null || segment === topic.listId)
    return topic.default === "opt_out"
      ? toList(topic.listId)
      : { fields: { recipientType: "segment", segmentId: topic.id }, missing: null };
  const { name } = await calls.read(contract.lists.get, { id: segment });
  const rules = buildTopicRule(segment, topic);
  const known = (await listSegments(calls)).find((one) => JSON.stringify(one.rules) === JSON.stringify(rules));
  return {
    fields: { recipientType: "segment", segmentId: known?.id ?? topic.id },
    missing: known ? null : { name: `${name.slice(0, 40)}, topic ${topic.name.slice(0, 40)}`, rules },
  };
}

/** The fields that only the transaction knows: the id of the segment that it makes. */
export async function makeMissing({ missing }: Audience, { write }: Writes): Promise<{ segmentId?: string }> {
  return missing === null ? {} : { segmentId: (await write(contract.segments.create, missing)).id };
}

/** Tells the segment and the topic of campaigns. */
export class AudienceReader {
  readonly #calls: Reads;
  #topics: Promise<readonly Topic[]> | undefined;

  constructor(calls: Reads) {
    this.#calls = calls;
  }

  async read({ listId, segmentId }: Pick<Campaign, "listId" | "segmentId">): Promise<Named> {
    const topics = await (this.#topics ??= listTopics(this.#calls));
    if (segmentId === null) return { segment: listId, topic: topics.find(({ id }) => id === listId)?.id ?? null };
    if (topics.some(({ id }) => id === segmentId)) return { segment: null, topic: segmentId };
    const segment = await nullIfNotFound(this.#calls.read(contract.segments.get, { id: segmentId }));
    const [ofSegment = null, ofTopic] = segment === null ? [] : listNamed(segment.rules);
    return { segment: ofSegment, topic: topics.find((topic) => topic.listId === ofTopic)?.id ?? null };
  }
}

function toList(listId: string): Audience {
  return { fields: { recipientType: "list", listId }, missing: null };
}

function listSegments({ read }: Reads): Promise<Segment[]> {
  return readAll((page) => read(contract.segments.list, page));
}

/** The lists of a rule that `buildTopicRule` made; none for any other rule. */
function listNamed(rule: SegmentRule): string[] {
  if (!("all" in rule) || rule.all.length !== 2) return [];
  return rule.all.flatMap((one) => ("field" in one && one.field === "lists" && typeof one.value === "string" ? [one.value] : []));
}

const TYPES = ["sent", "delivered", "opened", "clicked", "bounced", "complained", "unsubscribed", "suppressed"] as const;
type Type = (typeof TYPES)[number];

/** Reasons that keep an address from all mail. */
const SUPPRESSED: ReadonlySet<Recipient["skipReason"]> = new Set(["suppressed", "bounced", "complained"]);

/** Recipients to whom something happened. Those with a state are looked up by it, the others are looked for among all. */
const SELECTIONS: Readonly<Record<Type, { readonly status?: Recipient["status"]; readonly fits: (one: Recipient) => boolean }>> = {
  sent: { fits: ({ sentAt }) => sentAt !== null },
  delivered: { fits: ({ status }) => status === "delivered" || status === "complained" },
  opened: { fits: ({ openedAt }) => openedAt !== null },
  clicked: { fits: ({ clickedAt }) => clickedAt !== null },
  bounced: { status: "bounced", fits: () => true },
  complained: { status: "complained", fits: () => true },
  unsubscribed: { fits: ({ unsubscribedAt }) => unsubscribedAt !== null },
  suppressed: { fits: ({ status, skipReason }) => status === "suppressed" || SUPPRESSED.has(skipReason) },
};

// Events of one mail that are counted.
const MAX_EVENTS = 100;

/** `GET /broadcasts/:id/recipients`: to whom something happened. */
export const listRecipients: Operation = readOperation({
  path: "/broadcasts/:id/recipients",
  note: `opens and clicks by machines do not count, and of one recipient at most ${MAX_EVENTS} do`,
  query: listQuery.extend({
    type: z.enum(TYPES),
    email: z.string().optional(),
    bounce_type: z.enum(["permanent", "transient", "undetermined"]).optional(),
  }),
  run: async ({ id, type, email, bounce_type, ...query }, calls) => {
    if (bounce_type !== undefined && type !== "bounced") throw invalid("bounce_type", "not_allowed", "bounce_type goes with type=bounced.");
    const { status, fits } = SELECTIONS[type];
    return answerList(
      query,
      async (page) => {
        const { data, pagination } = await calls.read(contract.campaigns.recipients, { id, ...page, ...(status && { status }) });
        const found = data.filter((one) => fits(one) && (email === undefined || one.to.toLowerCase() === email.toLowerCase()));
        const shown = await Promise.all(found.map((one) => showRecipient(one, type, calls)));
        return { data: shown.filter((one) => bounce_type === undefined || one.bounce_type === bounce_type), pagination };
      },
      (recipient) => recipient,
    );
  },
});

interface ShownRecipient {
  readonly id: string;
  readonly contact_id: string | null;
  readonly email: string;
  readonly count?: number;
  readonly clicked_links?: readonly { readonly url: string; readonly clicks: number }[];
  readonly bounce_type?: string;
}

async function showRecipient({ emailId, contactId, to }: Recipient, type: Type, calls: Reads): Promise<ShownRecipient> {
  const common = { id: emailId, contact_id: contactId, email: to };
  if (type === "opened") return { ...common, count: (await listEvents(emailId, "email.opened", calls)).length };
  if (type === "bounced") return { ...common, bounce_type: nameBounce(await listEvents(emailId, "email.bounced", calls)) };
  if (type !== "clicked") return common;
  const clicks = await listEvents(emailId, "email.clicked", calls);
  const links = Map.groupBy(clicks, (event) => (event.type === "email.clicked" ? (event.data.url ?? "") : ""));
  return { ...common, count: clicks.length, clicked_links: [...links].map(([url, all]) => ({ url, clicks: all.length })) };
}

async function listEvents(email: string, type: EventType, { read }: Reads): Promise<readonly Event[]> {
  const { data } = await read(contract.events.list, { email, type, limit: MAX_EVENTS });
  return (data as readonly Event[]).filter(({ machine }) => machine !== true);
}

function nameBounce([event]: readonly Event[]): string {
  if (event?.type !== "email.bounced") return "undetermined";
  return event.data.type === "PERMANENT" ? "permanent" : "transient";
}
