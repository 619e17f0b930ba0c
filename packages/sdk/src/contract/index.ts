import { clock, faults, world } from "./dev.ts";
import { emails } from "./emails.ts";
import { contacts } from "./contacts.ts";
import type { Contract } from "./endpoint.ts";
import { health } from "./health.ts";
import { inbox } from "./inbox.ts";
import { jobs } from "./jobs.ts";
import { keys, me } from "./keys.ts";
import { marketplace } from "./marketplace/nouns.ts";
import { senders } from "./senders.ts";
import { suppressions } from "./suppressions.ts";
import { templates } from "./templates.ts";

/** Every endpoint of the service, by noun and verb. */
export const contract = { emails, templates, senders, suppressions, contacts, keys, jobs, me, health, inbox, ...marketplace, clock, world, faults } as const satisfies Contract;
export type MailsvcContract = typeof contract;

export * from "./address.ts";
export * from "./contacts.ts";
export * from "./dev.ts";
export * from "./emails.ts";
export * from "./endpoint.ts";
export * from "./errors.ts";
export * from "./health.ts";
export * from "./inbox.ts";
export * from "./jobs.ts";
export * from "./keys.ts";
export * from "./lists.ts";
export * from "./marketplace/index.ts";
export * from "./page.ts";
export * from "./scopes.ts";
export * from "./segment-rules.ts";
export * from "./segments.ts";
export { Attachment, FailedRecipient, SEND_LIMITS } from "./send-fields.ts";
export * from "./senders.ts";
export * from "./suppressions.ts";
export * from "./template-send.ts";
export * from "./templates.ts";
