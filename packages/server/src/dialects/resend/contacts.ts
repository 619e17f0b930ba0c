import { type Contact, type ContactDetail, CustomFields, contract } from "@mailsvc/sdk/contract";
import * as z from "zod";
import { getContactRow, toContactCursor } from "../../contacts/contacts.ts";
import { toSeqCursor } from "../../db/pagination.ts";
import { notFound, nullIfNotFound } from "../../lib/api-error.ts";
import { toUuid } from "../../lib/uuids.ts";
import { drop, type Operation, type Reads, readOperation, type Writes, writeOperation } from "../operation.ts";
import { getContact } from "./contact.ts";
import { checkProperties } from "./contact-properties.ts";
import { idOf } from "./ids.ts";
import { answerList, answerPart, listQuery, partQuery } from "./lists.ts";
import { chooseTopics, TopicChoices } from "./topics.ts";

const Person = z.object({
  first_name: z.string().nullish(),
  last_name: z.string().nullish(),
  unsubscribed: z.boolean().nullish(),
  properties: CustomFields.nullish(),
});
const NewPerson = Person.extend({
  email: z.string(),
  segments: z
    .array(z.union([idOf("segments"), z.object({ id: idOf("segments") })]))
    .max(50)
    .nullish(),
  topics: TopicChoices.nullish(),
});
type Person = z.output<typeof Person>;

/** Contacts, also those of one audience or segment, by id or address. */
export const contactOperations: readonly Operation[] = [
  writeOperation({
    method: "POST",
    path: "/contacts",
    body: NewPerson.extend({ audience_id: idOf("audiences").nullish() }),
    status: 201,
    run: ({ audience_id, segments, ...person }, calls) => {
      const lists = (segments ?? []).map((one) => (typeof one === "string" ? one : one.id));
      return createContact(person, audience_id ? [audience_id, ...lists] : lists, calls);
    },
  }),
  readOperation({
    path: "/contacts",
    query: listQuery.extend({ segment_id: idOf("segments").optional() }),
    run: ({ segment_id, ...query }, calls) =>
      segment_id === undefined
        ? answerList(
            query,
            (page) => calls.read(contract.contacts.list, page),
            showContact,
            async (id) => toContactCursor(await findSeq(id, calls)),
          )
        : answerMembers(segment_id, query, calls),
  }),
  readOperation({ path: "/contacts/:id", run: async ({ id }, calls) => showDetail(await getContact(id, calls)) }),
  writeOperation({
    method: "PATCH",
    path: "/contacts/:id",
    body: Person,
    run: ({ id, ...person }, calls) => patchContact(id, person, calls),
  }),
  // Resend says of what was never there that it is deleted.
  writeOperation({
    method: "DELETE",
    path: "/contacts/:id",
    run: async ({ id: named }, calls) => {
      const contact = await nullIfNotFound(getContact(named, calls));
      if (contact) await calls.write(contract.contacts.delete, { id: contact.id });
      return { object: "contact", contact: toUuid(contact?.id ?? named), deleted: true };
    },
  }),
  readOperation({
    path: "/contacts/:id/segments",
    query: partQuery,
    run: async ({ id, ...query }, calls) => {
      const { lists, createdAt } = await getContact(id, calls);
      return answerPart(query, lists, (list) => ({ ...list, created_at: createdAt }));
    },
  }),
  writeOperation({
    method: "POST",
    path: "/contacts/:id/segments/:segment",
    run: async ({ id: named, segment }, calls) => {
      const { id } = await getContact(named, calls);
      await calls.write(contract.lists.add, { id: segment, contacts: [id] });
      return { object: "contact_segment", id: segment, contact_id: id, segment_id: segment };
    },
  }),
  writeOperation({
    method: "DELETE",
    path: "/contacts/:id/segments/:segment",
    run: async ({ id: named, segment }, calls) => {
      const { id } = await getContact(named, calls);
      await calls.write(contract.lists.removeOne, { id: segment, contact: id });
      return { object: "contact_segment", id: segment, contact_id: id, segment_id: segment, deleted: true };
    },
  }),
  listMembers("/segments/:list/contacts"),
  // As programs with an older package call them. To delete a contact there takes it off the list.
  listMembers("/audiences/:list/contacts"),
  writeOperation({
    method: "POST",
    path: "/audiences/:list/contacts",
    body: NewPerson,
    status: 201,
    run: ({ list, segments: _other, ...person }, calls) => createContact(person, [list], calls),
  }),
  readOperation({
    path: "/audiences/:list/contacts/:id",
    run: async ({ list, id }, calls) => showDetail(await getMember(list, id, calls)),
  }),
  writeOperation({
    method: "PATCH",
    path: "/audiences/:list/contacts/:id",
    body: Person,
    run: async ({ list, id, ...person }, calls) => patchContact((await getMember(list, id, calls)).id, person, calls),
  }),
  writeOperation({
    method: "DELETE",
    path: "/audiences/:list/contacts/:id",
    run: async ({ list, id: named }, calls) => {
      const member = await nullIfNotFound(getMember(list, named, calls));
      if (member) await calls.write(contract.lists.removeOne, { id: list, contact: member.id });
      return { object: "contact", contact: toUuid(named), deleted: true };
    },
  }),
];

/** The contacts of an audience or a segment. */
function listMembers(path: "/segments/:list/contacts" | "/audiences/:list/contacts"): Operation {
  return readOperation({ path, query: listQuery, run: ({ list, ...query }, calls) => answerMembers(list, query, calls) });
}

function answerMembers(id: string, query: z.output<typeof listQuery>, calls: Reads): Promise<object> {
  return answerList(
    query,
    async (page) => {
      const { data, pagination } = await calls.read(contract.lists.contacts, { id, ...page });
      return { data: data.map(({ contact }) => contact), pagination };
    },
    showContact,
    async (contact) => toSeqCursor(await findSeq(contact, calls)),
  );
}

/** The number of a contact, by which lists of them are ordered. Throws ApiError not_found. */
async function findSeq(id: string, { rows, workspaceId }: Reads): Promise<number> {
  return (await getContactRow(rows, workspaceId, id)).seq;
}

type NewContact = Person & { readonly email: string; readonly topics?: z.output<typeof TopicChoices> | null | undefined };

async function createContact({ email, topics, ...person }: NewContact, lists: readonly string[], calls: Writes) {
  await checkProperties(person.properties ?? {}, calls);
  const { status, ...fields } = toFields(person);
  const { id } = await calls.write(contract.contacts.upsert, { email, ...fields, ...(status === "UNSUBSCRIBED" && { status }) });
  for (const list of lists) await calls.write(contract.lists.add, { id: list, contacts: [id] });
  await chooseTopics([id], topics ?? [], calls);
  return { object: "contact", id };
}

async function patchContact(named: string, person: Person, calls: Writes) {
  await checkProperties(person.properties ?? {}, calls);
  const { id } = await getContact(named, calls);
  const { first_name, last_name } = person;
  const cleared = { ...(first_name === null && { firstName: null }), ...(last_name === null && { lastName: null }) };
  await calls.write(contract.contacts.update, { id, ...toFields(person), ...cleared });
  return { object: "contact", id };
}

function toFields({ first_name, last_name, unsubscribed, properties }: Person) {
  const status = unsubscribed === null || unsubscribed === undefined ? undefined : unsubscribed ? "UNSUBSCRIBED" : "SUBSCRIBED";
  return drop({ firstName: first_name, lastName: last_name, customFields: properties, status } as const);
}

/** A contact by id or address, if it is on a list. Throws ApiError not_found. */
async function getMember(list: string, named: string, calls: Reads): Promise<ContactDetail> {
  const contact = await getContact(named, calls);
  if (!contact.lists.some(({ id }) => id === list)) throw notFound("contact", named);
  return contact;
}

function showContact({ id, email, firstName, lastName, status, createdAt }: Contact) {
  return { id, email, first_name: firstName, last_name: lastName, created_at: createdAt, unsubscribed: status !== "SUBSCRIBED" };
}

function showDetail(contact: ContactDetail) {
  const properties = Object.entries(contact.customFields).map(([key, value]) => [key, { type: typeof value, value }]);
  return { object: "contact", ...showContact(contact), properties: Object.fromEntries(properties) };
}
