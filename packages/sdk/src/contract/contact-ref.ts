import { EXTERNAL_ID_LIMIT, refuseExternalId } from "./contact-fields.ts";
import * as z from "./zod.ts";

/** The id that a contact has in the caller's own system. */
export const ExternalId = z
  .string()
  .trim()
  .max(EXTERNAL_ID_LIMIT)
  .superRefine((text, ctx) => {
    const why = text === "" ? null : refuseExternalId(text);
    if (why !== null) ctx.addIssue({ code: "custom", message: why, params: { code: "invalid_characters" } });
  })
  .meta({
    description: `The contact's id in your own system, unique in the workspace: up to ${EXTERNAL_ID_LIMIT} letters, digits and . _ : | ~ = -; upper and lower case differ`,
    examples: ["user_1042"],
  });

/** A contact by its id, its address or its externalId, as `readContactRef` tells them apart. */
export const ContactRef = z
  .string()
  .min(1)
  .max(320)
  .meta({ description: "Id, address or externalId of the contact", examples: ["ada@example.com"] });

/** Several contacts, each as in `ContactRef`. A text that is too long for one of them is reported with its index like any that names nobody. */
export function contactRefs(limit: number) {
  return z
    .array(z.string().min(1).max(1000))
    .min(1)
    .max(limit)
    .meta({ description: `Contacts, by their ids, addresses or externalIds, up to ${limit}` });
}
