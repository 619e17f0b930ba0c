import { MailboxText, parseAddress, ReplyTo } from "./address.ts";
import { IcalEvent } from "./calendar.ts";
import {
  AcceptedRecipient,
  checkRecipients,
  findKey,
  isTogether,
  listAddresses,
  type RecipientFields,
  recipientFields,
} from "./recipients.ts";
import { Attachments, BypassUnsubscribe, FailedRecipient, Headers, issue, ScheduledAt, Subject, Tags, Tracking } from "./send-fields.ts";
import * as z from "./zod.ts";

/** Values for the placeholders of a template, by name. */
export const Variables = z
  .record(z.string(), z.unknown())
  .superRefine((values, ctx) => {
    const bad = unstorable(values, []);
    if (bad) issue(ctx, bad, "invalid_characters", "The text holds a U+0000 character or a lone surrogate.");
  })
  .meta({ description: "Values of the template's variables, by name" });

export const recipientVariables = z
  .record(z.string(), Variables)
  .optional()
  .meta({ description: "Values per recipient, by address; they override variables" });

const fields = {
  ...recipientFields,
  variables: Variables.optional(),
  recipientVariables,
  from: MailboxText.optional().meta({ description: "Overrides the template's sender" }),
  subject: Subject.optional().meta({ description: "Overrides the template's subject; may contain {{ variables }}" }),
  replyTo: ReplyTo.optional().meta({
    description: "Overrides the template's Reply-To address, or addresses; auto to receive the replies here",
  }),
  headers: Headers.optional(),
  tags: Tags.optional(),
  attachments: Attachments.optional(),
  icalEvent: IcalEvent.optional(),
  scheduledAt: ScheduledAt.optional(),
  bypassUnsubscribe: BypassUnsubscribe.optional(),
  tracking: Tracking.optional(),
};

/** The template send request (docs/templates.md#a-first-template). */
export const TemplateSendRequest = z.strictObject(fields).superRefine(checkTemplateFields).meta({ id: "TemplateSendRequest" });
export type TemplateSendRequest = z.input<typeof TemplateSendRequest>;

/** The template send request with the slug in the body. */
export const SlugSendRequest = z
  .strictObject({
    slug: z.string().min(1).max(100).optional().meta({ description: "Slug of the template" }),
    template: z.string().min(1).max(100).optional().meta({ description: "Alias of slug, as responses name it" }),
    ...fields,
  })
  .superRefine((body, ctx) => {
    if (body.slug === undefined && body.template === undefined)
      issue(ctx, ["slug"], "required", "slug is required: the slug of the template.");
    if (body.slug !== undefined && body.template !== undefined) issue(ctx, ["template"], "duplicate", "Give either slug or template.");
    checkTemplateFields(body, ctx);
  })
  .meta({ id: "SlugSendRequest" });
export type SlugSendRequest = z.input<typeof SlugSendRequest>;

/** The response of a template send: that of a direct send plus the slug. */
export const TemplateSendResponse = z
  .union([
    z.object({
      id: z.string(),
      status: z.literal("queued"),
      recipients: z.array(AcceptedRecipient),
      failed: z.array(FailedRecipient).optional(),
      template: z.string(),
    }),
    z.object({ id: z.string(), status: z.literal("queued"), template: z.string() }),
    z.object({
      ids: z.array(z.string()),
      status: z.literal("queued"),
      count: z.int(),
      failed: z.array(FailedRecipient).optional(),
      template: z.string(),
    }),
  ])
  .meta({ id: "TemplateSendResponse" });
export type TemplateSendResponse = z.infer<typeof TemplateSendResponse>;

function storable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** The path of the first text that neither a mail nor a database can hold; undefined when there is none. */
function unstorable(value: unknown, path: (string | number)[]): (string | number)[] | undefined {
  if (typeof value === "string") return storable(value) ? undefined : path;
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i += 1) {
      const found = unstorable(value[i], path);
      // Paths are built only when something is found, because lists may be long.
      if (found) return [...path, i, ...found.slice(path.length)];
    }
    return undefined;
  }
  for (const [key, inner] of Object.entries(value)) {
    if (!storable(key)) return path;
    const found = unstorable(inner, path);
    if (found) return [...path, key, ...found.slice(path.length)];
  }
  return undefined;
}

/** The normalised form in which addresses are compared; null for an invalid address. */
function variableKey(text: string): string | null {
  try {
    return parseAddress(text).key;
  } catch {
    return null;
  }
}

/** Checks the recipients, and that values per recipient name recipients of this send. */
export function checkTemplateFields(
  body: RecipientFields & { recipientVariables?: Record<string, unknown> | undefined },
  ctx: z.RefinementCtx,
): void {
  checkRecipients(body, ctx);
  if (!body.recipientVariables) return;
  if (isTogether(body)) {
    issue(
      ctx,
      ["recipientVariables"],
      "one_content",
      "One mail to several recipients has one content. Give variables, or leave out together, cc and bcc.",
    );
    return;
  }
  const to = new Set(listAddresses(body.to).map(findKey));
  const seen = new Set<string>();
  for (const address of Object.keys(body.recipientVariables)) {
    const key = variableKey(address);
    if (key === null || !to.has(key))
      issue(ctx, ["recipientVariables", address], "unknown_recipient", `${address.slice(0, 100)} is not among to.`);
    else if (seen.has(key)) issue(ctx, ["recipientVariables", address], "duplicate", `${address.slice(0, 100)} is given twice.`);
    else seen.add(key);
  }
}
