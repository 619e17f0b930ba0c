import { type Mailbox, MailboxText, parseAnyMailbox, parseMailbox } from "./address.ts";
import { issue, SEND_LIMITS } from "./send-fields.ts";
import * as z from "./zod.ts";

/** Header that names a recipient: To, Cc, or none (`bcc`). */
export const RECIPIENT_KINDS = ["to", "cc", "bcc"] as const;
export type RecipientKind = (typeof RECIPIENT_KINDS)[number];

/** One address with or without a name, or up to 50 of them. */
const Addresses = z.union([MailboxText, z.array(MailboxText).min(1).max(SEND_LIMITS.recipients)]);

/** The fields of a send that say who gets it. */
export const recipientFields = {
  to: Addresses.meta({
    description:
      "An address, Name <address>, or an array of up to 50; each recipient gets a separate message, unless the mail has together, cc or bcc. A repeated address counts once",
  }),
  cc: Addresses.optional().meta({ description: "Recipients of the same mail, named in its Cc header" }),
  bcc: Addresses.optional().meta({ description: "Recipients of the same mail whom no other recipient sees" }),
  together: z.boolean().optional().meta({
    description: "Send one mail to all recipients, who see each other in its To and Cc headers; also done when cc or bcc is given",
  }),
};

/** A recipient in the response to a send. */
export const AcceptedRecipient = z
  .object({ id: z.string(), email: z.string(), kind: z.enum(RECIPIENT_KINDS), status: z.enum(["queued", "suppressed"]) })
  .meta({ id: "AcceptedRecipient" });

/** Recipient that an event of an email is about. */
export const EventRecipient = z.object({ id: z.string(), email: z.string(), kind: z.enum(RECIPIENT_KINDS) }).meta({ id: "EventRecipient" });

/** The recipients of a send, as its request names them. */
export interface RecipientFields {
  readonly to: string | readonly string[];
  readonly cc?: string | readonly string[] | undefined;
  readonly bcc?: string | readonly string[] | undefined;
  readonly together?: boolean | undefined;
}

/** A recipient of a send, and the place in the request that names it first, such as `cc[3]`. */
export interface NamedRecipient {
  readonly kind: RecipientKind;
  readonly path: string;
  readonly box: Mailbox;
}

/** True if a send is one mail to all of its recipients, and not one for each. */
export function isTogether({ cc, bcc, together }: RecipientFields): boolean {
  return together === true || cc !== undefined || bcc !== undefined;
}

/** The texts of one kind of recipients. */
export function listAddresses(field: string | readonly string[] | undefined): readonly string[] {
  return field === undefined ? [] : typeof field === "string" ? [field] : field;
}

/** The recipients of a send, each address once: `to` before `cc` before `bcc`, of captured mail also those of local hosts. Throws AddressError. */
export function listRecipients(fields: RecipientFields): NamedRecipient[] {
  const found = new Map<string, NamedRecipient>();
  for (const kind of RECIPIENT_KINDS)
    for (const [i, text] of listAddresses(fields[kind]).entries()) {
      const box = parseAnyMailbox(text);
      if (!found.has(box.key)) found.set(box.key, { kind, path: typeof fields[kind] === "string" ? kind : `${kind}[${i}]`, box });
    }
  return [...found.values()];
}

/** Checks the recipients of a send as a whole: their number. An address that is named more than once gets it once. */
export function checkRecipients(fields: RecipientFields, ctx: z.RefinementCtx): void {
  if (!isTogether(fields)) return;
  const count = RECIPIENT_KINDS.reduce((sum, kind) => sum + listAddresses(fields[kind]).length, 0);
  if (count > SEND_LIMITS.recipients)
    issue(ctx, ["to"], "too_big", `At most ${SEND_LIMITS.recipients} recipients in to, cc and bcc; these are ${count}.`);
}

/** The key of an address in a request; null for what is none. */
export function findKey(text: string): string | null {
  try {
    return parseMailbox(text).key;
  } catch {
    return null;
  }
}
