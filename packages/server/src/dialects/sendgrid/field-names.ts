import { contract, type Endpoint } from "@mailsvc/sdk/contract";
import type { FieldNames } from "../rename-fields.ts";

const MAIL: FieldNames = { replyTo: "reply_to", scheduledAt: "send_at", html: "content", text: "content", tags: "categories" };

/** The fields that SendGrid calls otherwise. */
export const FIELD_NAMES: ReadonlyMap<Endpoint, FieldNames> = new Map<Endpoint, FieldNames>([
  [
    contract.emails.sendBatch,
    { emails: "personalizations", ...MAIL, ...Object.fromEntries(Object.entries(MAIL).map(([name, own]) => [`emails.${name}`, own])) },
  ],
]);
