import { type Mailbox, parseAddress, parseMailbox } from "./mailbox.ts";
import * as z from "./zod.ts";

export * from "./mailbox.ts";

/** A bare address. */
export const EmailAddress = z
  .string()
  .max(320)
  .superRefine(checked(parseAddress))
  .meta({ description: "Email address", examples: ["ada@example.com"] });

/** A bare address or `Name <address>` (SPEC 2). */
export const MailboxText = z
  .string()
  .max(640)
  .superRefine(checked(parseMailbox))
  .meta({ description: "A bare address or: Name <address>", examples: ["Acme <hello@acme.example>"] });

function checked(read: (text: string) => Mailbox) {
  return (text: string, ctx: z.RefinementCtx) => {
    try {
      read(text);
    } catch (error) {
      ctx.addIssue({ code: "custom", message: (error as Error).message, params: { code: "invalid_email" } });
    }
  };
}
