import { z } from "zod";
import { ContactDetail } from "./contacts.ts";
import { EmailDetail } from "./emails.ts";
import { endpoint } from "./endpoint.ts";
import { Instant, pageQuery } from "./page.ts";
import { Suppression } from "./suppressions.ts";

/** Everything that is stored about the person behind an address. */
export const Person = z
  .object({
    email: z.string(),
    contact: ContactDetail.nullable(),
    /** What happened to the contact, in order. */
    events: z.array(z.object({ id: z.string(), type: z.string(), at: Instant, data: z.record(z.string(), z.unknown()) })),
    suppression: Suppression.nullable(),
    /** Emails to the person with what they said and what became of them, newest first; the rest by `nextCursor`. */
    emails: z.array(EmailDetail),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: "Person" });
export type Person = z.infer<typeof Person>;

/** What was removed of a person. */
export const Erasure = z
  .object({
    contacts: z.int(),
    emails: z.int(),
    /** Captured copies of mail, in dev mode. */
    captured: z.int(),
    events: z.int(),
    /** Answers kept for an Idempotency-Key in which the person stood. */
    answers: z.int(),
    /** The address was suppressed, and stays so: what is kept of it is a keyed hash, by which it is known again and cannot be read. */
    staysSuppressed: z.boolean(),
  })
  .meta({ id: "Erasure" });
export type Erasure = z.infer<typeof Erasure>;

const ada = { email: "ada@example.com" };

export const people = {
  get: endpoint({
    method: "GET",
    path: "/api/v1/people/:email",
    access: { permission: "people:read" },
    summary: "Read everything that is stored about a person",
    description: "The person behind an address: contact, memberships, events, suppression, and all mail to them in pages of 50.",
    query: z.object({ cursor: pageQuery.cursor }),
    output: Person,
    errors: ["not_found"],
    examples: [{ summary: "For a request under the GDPR", params: ada }],
  }),
  erase: endpoint({
    method: "DELETE",
    path: "/api/v1/people/:email",
    access: { permission: "people:write" },
    summary: "Erase a person: contact, memberships, events, and all mail to them",
    description:
      "Cannot be undone. Mail that still waits is not sent. What was said to several people at once stays, without this one among them. A suppressed address stays suppressed, as a keyed hash.",
    output: Erasure,
    errors: ["not_found"],
    examples: [{ summary: "For a request under the GDPR", params: ada }],
  }),
};
