import * as z from "zod";
import { drop, type Operation, readOperation, writeOperation } from "../operation.ts";
import { getContact } from "./contact.ts";
import { answerPart, partQuery } from "./lists.ts";
import {
  changeTopic,
  chooseTopics,
  createTopic,
  deleteTopic,
  getTopic,
  listTopics,
  readSubscription,
  Subscription,
  type Topic,
  TopicChoices,
} from "./topics.ts";

/** Topics, and the choices of contacts. */
export const topicOperations: readonly Operation[] = [
  writeOperation({
    method: "POST",
    path: "/topics",
    note: "people see a topic on their preference page if they opted in to it; visibility is public",
    body: z.object({ name: z.string(), description: z.string().nullish(), default_subscription: Subscription }),
    status: 201,
    run: async ({ name, description = null, default_subscription: subscription }, calls) => ({
      object: "topic",
      id: await createTopic({ name, description, subscription }, calls),
    }),
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
    run: async ({ id: named, name, description }, calls) => {
      const topic = await getTopic(named, calls);
      await changeTopic(topic, drop({ name, description }), calls);
      return { object: "topic", id: topic.id };
    },
  }),
  writeOperation({
    method: "DELETE",
    path: "/topics/:id",
    run: async ({ id: named }, calls) => {
      const topic = await getTopic(named, calls);
      await deleteTopic(topic, calls);
      return { object: "topic", id: topic.id, deleted: true };
    },
  }),
  readOperation({
    path: "/contacts/:id/topics",
    query: partQuery,
    run: async ({ id: contact, ...query }, calls) => {
      const { lists } = await getContact(contact, calls);
      const chosen = new Set(lists.map((list) => list.id));
      return answerPart(query, await listTopics(calls), (topic) => ({
        ...{ id: topic.id, name: topic.name, description: topic.description },
        subscription: readSubscription(topic, chosen),
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
      await chooseTopics([id], topics, calls);
      return { object: "contact", id };
    },
  }),
];

function showTopic({ id, name, description, default: subscription, createdAt }: Topic) {
  return { id, name, description, default_subscription: subscription, visibility: "public", created_at: createdAt };
}
