import { createColumnResolver } from "@mailsvc/sdk/contact-files";
import { CONTACT_TEXT_FIELDS, CONTACT_TEXTS, type Contact, mapContactTexts } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { CONTACTS } from "./import/kind.ts";
import type { Session, Style } from "./types.ts";
import { contactViews } from "./views/contacts.ts";

const PLAIN = new Proxy({} as Style, { get: () => (text: string) => text });

test("the view of a contact shows each text field", () => {
  const contact: Contact = {
    id: "con_1",
    email: "ada@example.com",
    externalId: "user_1042",
    ...mapContactTexts((field) => `My ${CONTACT_TEXTS[field].noun}`),
    tags: [],
    customFields: {},
    status: "SUBSCRIBED",
    createdAt: "2026-01-01T00:00:00Z",
    updatedAt: "2026-01-01T00:00:00Z",
  };
  const view = contactViews["contacts.create"]?.object?.(contact as never, { term: { out: PLAIN } } as Session);
  for (const field of ["externalId", ...CONTACT_TEXT_FIELDS] as const) expect(view).toContain(contact[field]);
});

test("files may call each text field by its name or by one of its aliases, of which no two fields have the same", () => {
  const { resolve } = createColumnResolver(CONTACTS, { map: [], keepCustom: true });
  for (const field of CONTACT_TEXT_FIELDS)
    for (const name of [field, ...CONTACT_TEXTS[field].aliases]) expect(resolve(name)).toEqual({ to: "field", field });
});
