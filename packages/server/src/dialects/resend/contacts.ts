import { addressKey, type Contact, type ContactDetail, CustomFields, contract, MailboxText } from "@mailsvc/sdk/contract";
import * as z from "zod";
import { findContactByEmail } from "../../contacts/contacts.ts";
import { notFound } from "../../lib/api-error.ts";
import { drop } from "../drop.ts";
import { type Operation, type Reads, readOperation, type Writes, writeOperation } from "../operation.ts";
import { answerList, listQuery } from "./lists.ts";

const Person = z.object({
  first_name: z.string().nullish(),
  last_name: z.string().nullish(),
  unsubscribed: z.boolean().nullish(),
  properties: CustomFields.nullish(),
});
const NewPerson = Person.extend({
  email: z.string(),
  segments: z
    .array(z.union([z.string(), z.object({ id: z.string() })]))
    .max(50)
    .nullish(),
});
type Person = z.output<typeof Person>;

const NOTE = "topics are not here; properties are free custom fields";

/** Contacts, also those of one audience or segment, by id or address. */
export const contactOperations: readonly Operation[] = [
  writeOperation({
    method: "POST",
    path: "/contacts",
    note: NOTE,
    body: NewPerson.extend({ audience_id: z.string().nullish() }),
    status: 201,
    run: ({ audience_id, segments, ...person }, calls) => {
      const lists = (segments ?? []).map((one) => (typeof one === "string" ? one : one.id));
      return createContact(person, audience_id ? [audience_id, ...lists] : lists, calls);
    },
  }),
  readOperation({
    path: "/contacts",
    query: listQuery,
    run: (query, { read }) => answerList(query, (page) => read(contract.contacts.list, page), showContact),
  }),
  readOperation({ path: "/contacts/:id", run: async ({ id }, calls) => showDetail(await getContact(id, calls)) }),
  writeOperation({
    method: "PATCH",
    path: "/contacts/:id",
    note: NOTE,
    body: Person,
    run: ({ id, ...person }, calls) => patchContact(id, person, calls),
  }),
  writeOperation({
    method: "DELETE",
    path: "/contacts/:id",
    run: async ({ id: named }, calls) => {
      const { id } = await getContact(named, calls);
      await calls.write(contract.contacts.delete, { id });
      return { object: "contact", id, contact: named, deleted: true };
    },
  }),
  readOperation({
    path: "/contacts/:id/segments",
    run: async ({ id }, calls) => {
      const { lists, createdAt } = await getContact(id, calls);
      return { object: "list", has_more: false, data: lists.map((list) => ({ ...list, created_at: createdAt })) };
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
      const { id } = await getMember(list, named, calls);
      await calls.write(contract.lists.removeOne, { id: list, contact: id });
      return { object: "contact", id, contact: named, deleted: true };
    },
  }),
];

/** The contacts of an audience or a segment. */
function listMembers(path: "/segments/:list/contacts" | "/audiences/:list/contacts"): Operation {
  return readOperation({
    path,
    query: listQuery,
    run: (query, { read }) =>
      answerList(
        query,
        async (page) => {
          const { data, pagination } = await read(contract.lists.contacts, { id: query.list, ...page });
          return { data: data.map(({ contact }) => contact), pagination };
        },
        showContact,
      ),
  });
}

async function createContact({ email, ...person }: Person & { readonly email: string }, lists: readonly string[], calls: Writes) {
  const { status, ...fields } = toFields(person);
  const { id } = await calls.write(contract.contacts.upsert, { email, ...fields, ...(status === "UNSUBSCRIBED" && { status }) });
  for (const list of lists) await calls.write(contract.lists.add, { id: list, contacts: [id] });
  return { object: "contact", id };
}

async function patchContact(named: string, person: Person, calls: Writes) {
  const { id } = await getContact(named, calls);
  await calls.write(contract.contacts.update, { id, ...toFields(person) });
  return { object: "contact", id };
}

function toFields({ first_name, last_name, unsubscribed, properties }: Person) {
  const status = unsubscribed === null || unsubscribed === undefined ? undefined : unsubscribed ? "UNSUBSCRIBED" : "SUBSCRIBED";
  return drop({ firstName: first_name, lastName: last_name, customFields: properties, status } as const);
}

/** A contact by id or address. Throws ApiError not_found. */
async function getContact(named: string, calls: Reads): Promise<ContactDetail> {
  if (!named.includes("@")) return calls.read(contract.contacts.get, { id: named });
  const row = MailboxText.safeParse(named).success ? await findContactByEmail(calls.rows, calls.workspaceId, addressKey(named)) : null;
  if (row === null) throw notFound("contact", named);
  return calls.read(contract.contacts.get, { id: row.id });
}

/** The same, if the contact is on a list. */
async function getMember(list: string, named: string, calls: Reads): Promise<ContactDetail> {
  const contact = await getContact(named, calls);
  if (!contact.lists.some(({ id }) => id === list)) throw notFound("contact", named);
  return contact;
}

function showContact({ id, email, firstName, lastName, status, createdAt }: Contact) {
  return { id, email, first_name: firstName, last_name: lastName, created_at: createdAt, unsubscribed: status !== "SUBSCRIBED" };
}

function showDetail(contact: ContactDetail) {
  return { object: "contact", ...showContact(contact), properties: contact.customFields };
}
