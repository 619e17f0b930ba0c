import { AutomationEntry } from "./automations.ts";
import { ContactDetail, ContactMembership } from "./contacts.ts";
import { EmailDetail } from "./emails.ts";
import { endpoint } from "./endpoint.ts";
import { LIST_MEMBER_STATUSES } from "./lists.ts";
import { LandingPageSubmission } from "./marketplace/landing-pages.ts";
import { Instant, pageQuery } from "./page.ts";
import { ReceivedMailDetail } from "./received.ts";
import { Suppression } from "./suppressions.ts";
import * as z from "./zod.ts";

/** The membership of a person in a list, pending ones too. */
export const PersonList = ContactMembership.extend({
  status: z.enum(LIST_MEMBER_STATUSES),
  addedAt: Instant,
  /** Time it became a member; null while pending. */
  joinedAt: Instant.nullable(),
}).meta({ id: "PersonList" });
export type PersonList = z.infer<typeof PersonList>;

/** A sign-up of a person on a landing page, with the text consented to. */
export const PersonSignUp = LandingPageSubmission.omit({ contactId: true })
  .extend({ landingPageId: z.string() })
  .meta({ id: "PersonSignUp" });
export type PersonSignUp = z.infer<typeof PersonSignUp>;

/** The way of a person through an automation. */
export const PersonEntry = AutomationEntry.omit({ contactId: true })
  .extend({
    automationId: z.string(),
    automationName: z.string(),
    /** The tracked event that made the person enter, or ended the latest wait; null without one, and once the entry is over. */
    event: z
      .object({
        name: z.string(),
        value: z.number().optional(),
        currency: z.string().optional(),
        properties: z.record(z.string(), z.unknown()).optional(),
      })
      .nullable(),
  })
  .meta({ id: "PersonEntry" });
export type PersonEntry = z.infer<typeof PersonEntry>;

/** Everything stored about the person with an address. */
export const Person = z
  .object({
    email: z.string(),
    contact: ContactDetail.nullable(),
    lists: z.array(PersonList),
    /** Sign-ups on landing pages with the texts consented to, newest first. */
    signUps: z.array(PersonSignUp),
    /** Values that the contact had before imports of the last week, kept so that these can be undone. */
    formerValues: z.array(z.record(z.string(), z.unknown())),
    /** The ways through automations, newest first. */
    automationEntries: z.array(PersonEntry),
    /** The events of the contact, in order. */
    events: z.array(z.object({ id: z.string(), type: z.string(), at: Instant, data: z.record(z.string(), z.unknown()) })),
    suppression: Suppression.nullable(),
    /** Mail that the person wrote, newest first; follow `nextCursor` for the rest. */
    received: z.array(ReceivedMailDetail),
    /** Emails to the person with contents and history, newest first; follow `nextCursor` for the rest. */
    emails: z.array(EmailDetail),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: "Person" });
export type Person = z.infer<typeof Person>;

/** Numbers of erased objects. */
export const Erasure = z
  .object({
    contacts: z.int(),
    emails: z.int(),
    /** Mail that the person wrote. */
    received: z.int(),
    /** Captured copies of emails, in dev mode. */
    captured: z.int(),
    events: z.int(),
    /** Stored responses of idempotent requests that mentioned the person. */
    answers: z.int(),
    /** The address was suppressed and stays so, in its scope. Only a keyed hash is kept, from which the address cannot be read. */
    staysSuppressed: z.boolean(),
  })
  .meta({ id: "Erasure" });
export type Erasure = z.infer<typeof Erasure>;

const ada = { person: "ada@example.com" };

export const people = {
  get: endpoint({
    method: "GET",
    path: "/api/v1/people/:person",
    access: { permission: "people:read" },
    summary: "Get everything stored about a person",
    description:
      "The person with an address, or with the id or externalId of a contact: contact, memberships, sign-ups with the texts consented to, ways through automations, events, suppression, and all emails to them and mail by them in pages of 50 at most.",
    query: z.object({ cursor: pageQuery.cursor }),
    uncompressed: true,
    output: Person,
    errors: ["not_found"],
    examples: [{ summary: "For a request under the GDPR", params: ada }],
  }),
  erase: endpoint({
    method: "DELETE",
    path: "/api/v1/people/:person",
    access: { permission: "people:write" },
    mailsTo: "nobody",
    summary: "Erase a person: contact, memberships, events, and all emails to them",
    description:
      "The person is named by an address, or by the id or externalId of a contact. Cannot be undone. Queued emails are not sent. The contents of an email to several people stay for the others. A suppressed address stays suppressed in its scope, as a keyed hash.",
    output: Erasure,
    errors: ["not_found"],
    examples: [{ summary: "For a request under the GDPR", params: ada }],
  }),
};
