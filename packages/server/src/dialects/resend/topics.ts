import { type Contact, contract, type List } from "@mailsvc/sdk/contract";
import * as z from "zod";
import { ApiError, notFound } from "../../lib/api-error.ts";
import { drop } from "../drop.ts";
import { type Operation, type Reads, readOperation, type Writes, writeOperation } from "../operation.ts";
import { getContact } from "./contact.ts";
import { idOf } from "./ids.ts";
import { answerPart, partQuery } from "./lists.ts";

const Subscription = z.enum(["opt_in", "opt_out"]);

/** The choices of one contact. */
export const TopicChoices = z.array(z.object({ id: idOf("topics"), subscription: Subscription })).max(50);
type TopicChoices = z.output<typeof TopicChoices>;

const NOTE = "a topic is a public list, so nobody is subscribed before opting in: default_subscription is opt_out";

// Lists are read by this many at a time, so far.
const PAGE = 100;
const MAX_PAGES = 20;

/** Topics: public lists, which people see on their preference page and leave there. */
export const topicOperations: readonly Operation[] = [
  writeOperation({
    method: "POST",
    path: "/topics",
    note: NOTE,
    body: z.object({ name: z.string(), description: z.string().nullish(), default_subscription: Subscription }),
    status: 201,
    run: async ({ name, description, default_subscription }, { write }) => {
      if (default_subscription === "opt_in")
        throw new ApiError("not_implemented", "A topic to which everybody is subscribed before choosing is not here.", {
          hint: 'Create it with default_subscription "opt_out", and subscribe contacts: PATCH /contacts/:id/topics, or mailsvc lists add.',
        });
      return { object: "topic", id: (await write(contract.lists.create, { name, public: true, ...drop({ description }) })).id };
    },
  }),
  readOperation({
    path: "/topics",
    query: partQuery,
    run: async (query, calls) => answerPart(query, await listTopics(calls), showTopic),
  }),
  readOperation({
    path: "/topics/:id",
    run: async ({ id }, calls) => ({ object: "topic", ...showTopic(await getTopic(id, calls)) }),
  }),
  writeOperation({
    method: "PATCH",
    path: "/topics/:id",
    body: z.object({ name: z.string().nullish(), description: z.string().nullish() }),
    run: async ({ id, name, description }, calls) => {
      await getTopic(id, calls);
      await calls.write(contract.lists.update, { id, ...drop({ name, description }) });
      return { object: "topic", id };
    },
  }),
  writeOperation({
    method: "DELETE",
    path: "/topics/:id",
    run: async ({ id }, calls) => {
      await getTopic(id, calls);
      await calls.write(contract.lists.delete, { id });
      return { object: "topic", id, deleted: true };
    },
  }),
  readOperation({
    path: "/contacts/:id/topics",
    query: partQuery,
    run: async ({ id: contact, ...query }, calls) => {
      const { lists } = await getContact(contact, calls);
      const subscribed = new Set(lists.map((list) => list.id));
      return answerPart(query, await listTopics(calls), ({ id, name, description }) => ({
        ...{ id, name, description },
        subscription: subscribed.has(id) ? "opt_in" : "opt_out",
      }));
    },
  }),
  writeOperation({
    method: "PATCH",
    path: "/contacts/:id/topics",
    body: z.object({ topics: TopicChoices }),
    bodyIs: "topics",
    run: async ({ id: named, topics }, calls) => {
      const { id } = await getContact(named, calls);
      await chooseTopics(id, topics, calls);
      return { object: "contact", id };
    },
  }),
];

/** Adds a contact to the topics that it chose, and removes it from the others that are named. Throws ApiError not_found. */
export async function chooseTopics(contact: Contact["id"], topics: TopicChoices, calls: Writes): Promise<void> {
  for (const { id, subscription } of topics) {
    await getTopic(id, calls);
    if (subscription === "opt_in") await calls.write(contract.lists.add, { id, contacts: [contact] });
    else await calls.write(contract.lists.remove, { id, contacts: [contact] });
  }
}

/** A public list. Throws ApiError not_found, also for a list that people do not see: it is a segment. */
async function getTopic(id: string, { read }: Reads): Promise<List> {
  const list = await read(contract.lists.get, { id });
  if (!list.public) throw notFound("topic", id);
  return list;
}

async function listTopics({ read }: Reads): Promise<List[]> {
  const topics: List[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { data, pagination } = await read(contract.lists.list, { limit: PAGE, ...(cursor !== undefined && { cursor }) });
    topics.push(...data.filter((list) => list.public));
    if (pagination.nextCursor === null) break;
    cursor = pagination.nextCursor;
  }
  return topics;
}

function showTopic({ id, name, description, createdAt }: List) {
  return { id, name, description, default_subscription: "opt_out", created_at: createdAt };
}
