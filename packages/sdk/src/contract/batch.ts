import { MailboxText, ReplyTo } from "./address.ts";
import { IcalEvent } from "./calendar.ts";
import { ErrorDetail } from "./error-body.ts";
import { ERROR_CODES } from "./errors.ts";
import { limits } from "./limits.ts";
import { AcceptedRecipient, recipientFields } from "./recipients.ts";
import {
  Attachments,
  BypassUnsubscribe,
  Content,
  FailedRecipient,
  Headers,
  issue,
  ScheduledAt,
  Subject,
  Tags,
  Tracking,
} from "./send-fields.ts";
import { checkTemplateFields, recipientVariables, Variables } from "./template-send.ts";
import * as z from "./zod.ts";

export const BATCH_LIMITS = limits("emails", "A batch of different emails", {
  emails: [100, "emails"],
  recipients: [1000, "recipients of all its emails"],
  idempotencyKey: [255, "idempotencyKey of an email", "characters"],
  attachmentBytes: [40 * 1024 * 1024, "attachments of all its emails, each file counted once", "bytes"],
});

/** Modes of a batch in which some emails cannot be sent: `strict` sends none, `permissive` all others. */
export const BATCH_MODES = ["strict", "permissive"] as const;

/** One email of a batch: the fields of a direct send, or those of a template send with the slug in `template`. */
export const BatchEmail = z
  .strictObject({
    ...recipientFields,
    from: MailboxText.optional().meta({ description: "Sender; may be left out if the template has one" }),
    subject: Subject.optional().meta({ description: "Subject line; with a template, replaces the template's" }),
    html: Content.optional().meta({ description: "HTML body" }),
    text: Content.optional().meta({ description: "Plain-text body" }),
    template: z.string().min(1).max(100).optional().meta({ description: "Slug of a published template, instead of html and text" }),
    variables: Variables.optional(),
    recipientVariables,
    replyTo: ReplyTo.optional(),
    headers: Headers.optional(),
    tags: Tags.optional(),
    attachments: Attachments.optional(),
    icalEvent: IcalEvent.optional(),
    scheduledAt: ScheduledAt.optional(),
    bypassUnsubscribe: BypassUnsubscribe.optional(),
    tracking: Tracking.optional(),
    idempotencyKey: z
      .string()
      .min(1)
      .max(BATCH_LIMITS.idempotencyKey)
      .regex(/^[\x21-\x7e]+$/, "Visible ASCII characters are needed.")
      .optional()
      .meta({ description: "Makes this email safe to repeat, in any batch of the same API key, for 24 hours" }),
  })
  .superRefine((email, ctx) => {
    checkTemplateFields(email, ctx);
    if (email.template === undefined) {
      for (const name of ["from", "subject"] as const)
        if (email[name] === undefined) issue(ctx, [name], "required", `${name} is required without a template.`);
      if (email.html === undefined && email.text === undefined) issue(ctx, ["html"], "required", "Give html, text, both or a template.");
      for (const name of ["variables", "recipientVariables"] as const)
        if (email[name] !== undefined) issue(ctx, [name], "unexpected", `${name} needs a template.`);
    } else
      for (const name of ["html", "text"] as const)
        if (email[name] !== undefined) issue(ctx, [name], "unexpected", `${name} comes from the template. Leave it out.`);
  })
  .meta({ id: "BatchEmail" });
export type BatchEmail = z.input<typeof BatchEmail>;

/** The request of a batch, with the emails as one schema says. */
export function batchRequest<Item extends z.ZodType>(item: Item) {
  return z.strictObject({
    emails: z
      .array(item)
      .min(1)
      .max(BATCH_LIMITS.emails)
      .meta({
        description: `The emails, up to ${BATCH_LIMITS.emails} with ${BATCH_LIMITS.recipients} recipients in all`,
      }),
    mode: z
      .enum(BATCH_MODES)
      .default("strict")
      .meta({ description: "If an email cannot be queued: queue none (strict), or all others (permissive)" }),
  });
}

/** Error of an email that a permissive batch did not queue. */
export const BatchFailure = z
  .object({
    status: z.literal("failed"),
    error: z.object({ code: z.enum(ERROR_CODES), message: z.string(), details: z.array(ErrorDetail), hint: z.string() }),
  })
  .meta({ id: "BatchFailure" });
export type BatchFailure = z.infer<typeof BatchFailure>;

/** An email of a batch that was queued, as the response of a single send. */
export const BatchQueued = z
  .object({
    status: z.literal("queued"),
    /** Id of a single email. */
    id: z.string().optional(),
    /** Ids of a message that each recipient gets separately. */
    ids: z.array(z.string()).optional(),
    count: z.int().optional(),
    /** Recipients of one mail to several people. */
    recipients: z.array(AcceptedRecipient).optional(),
    /** Recipients that could not be queued. */
    failed: z.array(FailedRecipient).optional(),
    /** The slug of its template. */
    template: z.string().optional(),
    /** Present if it was queued before, under the same `idempotencyKey`. */
    replayed: z.literal(true).optional(),
  })
  .meta({ id: "BatchQueued" });
export type BatchQueued = z.infer<typeof BatchQueued>;

/** The response of a batch: a result for each of its emails, in their order. */
export const BatchResponse = z
  .object({
    /** Number of emails queued, now or before. */
    queued: z.int(),
    failed: z.int(),
    results: z.array(z.union([BatchQueued, BatchFailure])),
  })
  .meta({ id: "BatchResponse" });
export type BatchResponse = z.infer<typeof BatchResponse>;
