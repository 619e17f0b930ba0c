import { AddressError, type Campaign, type CampaignDetail, type CampaignStatus, contract, parseMailbox } from "@mailsvc/sdk/contract";
import * as z from "zod";
import { formatMailbox } from "../../lib/address-text.ts";
import { invalid } from "../../lib/api-error.ts";
import { SECOND } from "../../lib/units.ts";
import { toPartUuid } from "../../lib/uuids.ts";
import { trustSenderInDev } from "../dev-senders.ts";
import { drop, type Operation, readOperation, writeOperation } from "../operation.ts";
import { AudienceReader, findAudience, makeMissing, type Named } from "./broadcast-audience.ts";
import { loadFallbacks } from "./contact-properties.ts";
import { idOf } from "./ids.ts";
import { answerList, answerPart, listQuery, partQuery } from "./lists.ts";
import { readTime } from "./send-fields.ts";

const Broadcast = z.object({
  name: z.string().nullish(),
  segment_id: idOf("segments").nullish(),
  audience_id: idOf("audiences").nullish(),
  from: z.string().nullish(),
  subject: z.string().nullish(),
  reply_to: z.union([z.string(), z.array(z.string()).max(50)]).nullish(),
  preview_text: z.string().nullish(),
  html: z.string().nullish(),
  text: z.string().nullish(),
  topic_id: idOf("topics").nullish(),
});
type Broadcast = z.output<typeof Broadcast>;

const NOTE = "variables other than those of contacts are left as they are";

/** Broadcasts: campaigns to a list. */
export const broadcastOperations: readonly Operation[] = [
  writeOperation({
    method: "POST",
    path: "/broadcasts",
    note: NOTE,
    body: Broadcast.extend({ from: z.string(), subject: z.string(), send: z.boolean().nullish(), scheduled_at: z.string().nullish() }),
    status: 201,
    prepare: async ({ send, scheduled_at, ...broadcast }, calls) => {
      const { from, subject } = broadcast;
      const fallbacks = await loadFallbacks(calls);
      if (scheduled_at && !send) throw invalid("scheduled_at", "not_allowed", "scheduled_at goes with send: true.");
      const audience = await findAudience(toNamed(broadcast), calls);
      if (audience === null) throw invalid("segment_id", "required", "Missing `segment_id` field.");
      // A broadcast sent at once is due in a second: a start prepares its audience before its transaction, and the campaign must exist
      // by then.
      const soon = new Date(calls.deps.clock.now() + SECOND).toISOString();
      const create = await calls.prepare(contract.campaigns.create, {
        ...toSender(from),
        ...toFields(broadcast, fallbacks),
        name: broadcast.name || subject,
        subjectLine: toOwnVariables(subject, fallbacks),
        ...audience.fields,
        ...(send && { scheduledAt: scheduled_at ? readTime(scheduled_at, calls, "scheduled_at") : soon }),
      });
      return { create, audience };
    },
    run: async ({ from }, calls, { create, audience }) => {
      await trustSenderInDev(from, calls);
      return { object: "broadcast", id: (await calls.finish(create, { also: await makeMissing(audience, calls) })).id };
    },
  }),
  readOperation({
    path: "/broadcasts",
    query: listQuery,
    run: (query, calls) => {
      const audiences = new AudienceReader(calls);
      return answerList(
        query,
        async (page) => {
          const { data, pagination } = await calls.read(contract.campaigns.list, page);
          const listed: ReturnType<typeof showListed>[] = [];
          for (const campaign of data) listed.push(showListed(campaign, await audiences.read(campaign)));
          return { data: listed, pagination };
        },
        (broadcast) => broadcast,
      );
    },
  }),
  readOperation({
    path: "/broadcasts/:id",
    run: async ({ id }, calls) => {
      const campaign = await calls.read(contract.campaigns.get, { id });
      return { object: "broadcast", ...showBroadcast(campaign, await new AudienceReader(calls).read(campaign)) };
    },
  }),
  writeOperation({
    method: "PATCH",
    path: "/broadcasts/:id",
    note: NOTE,
    body: Broadcast,
    prepare: async ({ id, ...broadcast }, calls) => {
      const { segment, topic } = toNamed(broadcast);
      const isMoved = segment !== null || broadcast.topic_id !== undefined;
      const before = isMoved ? await new AudienceReader(calls).read(await calls.read(contract.campaigns.get, { id })) : null;
      const named = {
        segment: segment ?? before?.segment ?? null,
        topic: broadcast.topic_id === undefined ? (before?.topic ?? null) : topic,
      };
      const audience = isMoved ? await findAudience(named, calls) : null;
      const update = await calls.prepare(contract.campaigns.update, {
        id,
        ...toFields(broadcast, await loadFallbacks(calls)),
        ...toEmptied(broadcast),
        ...(audience && { listId: null, segmentId: null, ...audience.fields }),
      });
      return { update, audience };
    },
    run: async ({ id, from }, calls, { update, audience }) => {
      await trustSenderInDev(from ?? undefined, calls);
      await calls.finish(update, audience ? { also: await makeMissing(audience, calls) } : {});
      return { object: "broadcast", id };
    },
  }),
  writeOperation({
    method: "POST",
    path: "/broadcasts/:id/send",
    body: z.object({ scheduled_at: z.string().nullish() }),
    bucket: "send",
    prepare: async ({ id, scheduled_at }, calls) => {
      if (!scheduled_at) return { send: await calls.prepare(contract.campaigns.send, { id }), schedule: null };
      const scheduledAt = readTime(scheduled_at, calls, "scheduled_at");
      return { send: null, schedule: await calls.prepare(contract.campaigns.schedule, { id, scheduledAt }) };
    },
    run: async ({ id }, { finish }, { send, schedule }) => {
      if (send) await finish(send);
      if (schedule) await finish(schedule);
      return { object: "broadcast", id };
    },
  }),
  writeOperation({
    method: "POST",
    path: "/broadcasts/:id/cancel",
    prepare: async ({ id }, calls) => {
      const { status } = await calls.read(contract.campaigns.get, { id });
      // A scheduled one becomes a draft again; of one that is being sent, the rest stays.
      return status === "SCHEDULED" ? calls.prepare(contract.campaigns.update, { id, scheduledAt: null }) : null;
    },
    run: async ({ id }, { write, finish }, toDraft) => {
      await (toDraft ? finish(toDraft) : write(contract.campaigns.cancel, { id }));
      return { object: "broadcast", id };
    },
  }),
  writeOperation({
    method: "POST",
    path: "/broadcasts/:id/duplicate",
    status: 201,
    run: async ({ id }, { write }) => ({ object: "broadcast", id: (await write(contract.campaigns.duplicate, { id })).id }),
  }),
  readOperation({
    path: "/broadcasts/:id/clicked-links",
    note: "up to 100 links, without clicks by machines",
    query: partQuery,
    run: async ({ id, ...query }, { read }) => {
      const { links } = await read(contract.campaigns.stats, { id });
      return answerPart(query, links, ({ url, clicks, uniqueClicks }) => ({
        ...{ id: toPartUuid(id, url), url },
        ...{ clicks, unique_clicks: uniqueClicks },
      }));
    },
  }),
  writeOperation({
    method: "DELETE",
    path: "/broadcasts/:id",
    run: async ({ id }, { write }) => {
      await write(contract.campaigns.delete, { id });
      return { object: "broadcast", id, deleted: true };
    },
  }),
];

function toNamed({ segment_id, audience_id, topic_id }: Broadcast) {
  return { segment: segment_id || audience_id || null, topic: topic_id || null };
}

/** The fields of a campaign that are given. Throws ApiError for what is not here. */
function toFields({ name, from, subject, reply_to, preview_text, html, text }: Broadcast, fallbacks: ReadonlyMap<string, string | number>) {
  const replyTo = typeof reply_to === "string" ? [reply_to] : (reply_to ?? []);
  return {
    ...(from && toSender(from)),
    ...drop({
      name: name || null,
      subjectLine: subject ? toOwnVariables(subject, fallbacks) : null,
      replyTo: replyTo.length > 1 ? replyTo : replyTo[0],
      previewText: preview_text || null,
      html: html ? toOwnVariables(html, fallbacks) : null,
      text: text ? toOwnVariables(text, fallbacks) : null,
    }),
  };
}

/** The fields that a change empties: those with an empty text or list, and the name of a sender without one. */
function toEmptied({ from, reply_to, preview_text, html, text }: Broadcast) {
  return {
    ...(from && toSender(from).fromName === undefined && { fromName: null }),
    ...(reply_to?.length === 0 && { replyTo: null }),
    ...(preview_text === "" && { previewText: null }),
    ...(html === "" && { html: null }),
    ...(text === "" && { text: null }),
  };
}

/** The sender of `Name <address>`. Throws ApiError validation_error. */
function toSender(from: string): { fromEmail: string; fromName?: string } {
  try {
    const { address, name } = parseMailbox(from);
    return { fromEmail: address, ...(name && { fromName: name }) };
  } catch (error) {
    if (error instanceof AddressError) throw invalid("from", "invalid_format", `from: ${error.message}`);
    throw error;
  }
}

const STATUSES: Readonly<Record<CampaignStatus, string>> = {
  DRAFT: "draft",
  SCHEDULED: "queued",
  SENDING: "queued",
  PAUSED: "queued",
  SENT: "sent",
  CANCELLED: "canceled",
};

/** Fields of a campaign that a list shows. */
type Listed = Pick<Campaign, "id" | "name" | "status" | "createdAt" | "scheduledAt" | "completedAt">;
/** Fields of a campaign that a broadcast shows. */
type Shown = Listed & Pick<CampaignDetail, "fromEmail" | "fromName" | "subjectLine" | "replyTo" | "previewText" | "html" | "text">;

function showListed({ id, name, status, createdAt, scheduledAt, completedAt }: Listed, { segment, topic }: Named) {
  return {
    id,
    name,
    audience_id: segment,
    segment_id: segment,
    status: STATUSES[status],
    created_at: createdAt,
    scheduled_at: scheduledAt,
    sent_at: completedAt,
    topic_id: topic,
  };
}

function showBroadcast(campaign: Shown, named: Named) {
  const { fromEmail, fromName, subjectLine, replyTo, previewText, html, text } = campaign;
  return {
    ...showListed(campaign, named),
    from: formatMailbox(fromEmail, fromName),
    subject: subjectLine,
    reply_to: replyTo === null ? null : [replyTo].flat(),
    preview_text: previewText,
    html,
    text,
  };
}

// Variables of broadcasts, in three braces: {{{FIRST_NAME|there}}}, {{{contact.plan}}}. A fallback may contain braces, except three
// opening ones.
const VARIABLE = /\{\{\{\s*([A-Za-z_][\w.]*)\s*(?:\|((?:(?!\{\{\{)[\s\S])*?))?\}\}\}(?!\})/g;

const OWN_NAMES: Readonly<Record<string, string>> = {
  FIRST_NAME: "firstName",
  LAST_NAME: "lastName",
  EMAIL: "email",
  RESEND_UNSUBSCRIBE_URL: "unsubscribeUrl",
  "contact.first_name": "firstName",
  "contact.last_name": "lastName",
  "contact.email": "email",
};

/**
 * A text of a broadcast with the variables of our templates, where two braces escape a value in HTML, as three do there. A property without
 * a fallback gets the one that it was declared with.
 */
function toOwnVariables(source: string, declared: ReadonlyMap<string, string | number> = new Map()): string {
  return source.replace(VARIABLE, (found: string, name: string, given: string | undefined) => {
    const own = findOwnName(name);
    if (own === null) return found;
    const fallback = given || String(declared.get(own) ?? "");
    return fallback ? `{{default ${own} ${quote(fallback)}}}` : `{{${own}}}`;
  });
}

function findOwnName(name: string): string | null {
  if (Object.hasOwn(OWN_NAMES, name)) return OWN_NAMES[name] ?? null;
  // Properties of contacts are custom fields.
  const [, property = null] = /^contact\.(\w+)$/.exec(name) ?? [];
  return property;
}

/** A text as a literal of our templates. One that ends with a backslash would escape the quote behind it, so a blank follows. */
function quote(text: string): string {
  const escaped = text.trim().replaceAll('"', '\\"');
  return `"${escaped}${escaped.endsWith("\\") ? " " : ""}"`;
}
