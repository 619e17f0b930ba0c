import { type Campaign, contract, type Segment, type SegmentRule } from "@mailsvc/sdk/contract";
import { nullIfNotFound } from "../../lib/api-error.ts";
import type { Reads, Writes } from "../operation.ts";
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
