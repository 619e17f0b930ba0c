import { describeCharacters, refuseCharacters } from "./characters.ts";
import { ERROR_CODES } from "./errors.ts";
import { limits } from "./limits.ts";
import { Instant } from "./page.ts";
import * as z from "./zod.ts";

export const SEND_LIMITS = limits("emails", "A send", {
  recipients: [50, "recipients of one request"],
  /** RFC 5321 4.5.3.1.8 asks for 100 at least; many programs do not send again to recipients beyond the limit, nor report them. */
  smtpRecipients: [1000, "recipients of one message that comes by SMTP"],
  subject: [998, "subject", "characters"],
  content: [5 * 1024 * 1024, "html, and text, each", "bytes"],
  headers: [50, "custom headers"],
  headerValue: [2000, "value of a custom header", "characters"],
  tags: [20, "tags"],
  tagValue: [256, "value of a tag", "characters"],
  utmValue: [200, "value of a UTM parameter", "characters"],
  attachments: [20, "attachments"],
  attachmentBytes: [20 * 1024 * 1024, "attachments, all together", "bytes"],
  scheduleDays: [365, "how far ahead a send can be scheduled", "days"],
  testMailDays: [30, "how long captured mail of test keys is kept", "days"],
});

/** Headers that the service sets itself or that would change the structure of the message. */
const RESERVED =
  /^(?:from|to|cc|bcc|subject|date|sender|reply-to|message-id|return-path|received|mime-version|content-.*|resent-.*|dkim-.*|arc-.*|authentication-results|domainkey-.*|delivered-to|x-mailsvc-.*)$/i;

/** Reports an invalid field from a schema's refinement. */
export function issue(ctx: z.RefinementCtx, path: (string | number)[], code: string, message: string): void {
  ctx.addIssue({ code: "custom", path, message, params: { code } });
}

/** Marks, in types only, an object schema that needs at least one of some optional fields; the SDK derives its types from it. */
export interface AtLeastOne<Names extends string> {
  readonly _atLeastOne: Names;
}

/** An object schema that refuses input without any of the named fields, with the code `required`. */
export function atLeastOne<S extends z.ZodObject, const N extends keyof S["shape"] & string>(
  schema: S,
  names: readonly [N, ...N[]],
  message: string,
) {
  const checked = schema.superRefine((input, ctx) => {
    if (names.every((name) => input[name] === undefined)) issue(ctx, [names[0]], "required", message);
  });
  return checked as unknown as S & AtLeastOne<N>;
}

export const Subject = z
  .string()
  .min(1)
  .max(SEND_LIMITS.subject)
  // An empty one is named by its length already.
  .regex(/^$|\S/, "A subject is more than blanks.")
  .refine((s) => !unsafe(s), refuseCharacters("A subject holds no line breaks or control characters."))
  .meta({ description: "Subject line, up to 998 characters" });

export const Headers = z
  .record(z.string(), z.string())
  .superRefine((headers, ctx) => {
    const names = Object.keys(headers);
    if (names.length > SEND_LIMITS.headers) issue(ctx, [], "too_big", `At most ${SEND_LIMITS.headers} headers.`);
    const seen = new Set<string>();
    for (const name of names) {
      const value = headers[name] as string;
      if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,76}$/.test(name))
        issue(ctx, [name], "invalid_header", "A header name is 1 to 76 letters, digits and dashes.");
      else if (RESERVED.test(name)) issue(ctx, [name], "reserved_header", `${name} is written by the service. Leave it out.`);
      else if (seen.has(name.toLowerCase())) issue(ctx, [name], "duplicate", `${name} is given twice.`);
      else if (unsafe(value))
        issue(ctx, [name], "invalid_characters", describeCharacters(value, "A header value holds no line breaks or control characters."));
      else if (value.length > SEND_LIMITS.headerValue)
        issue(ctx, [name], "too_big", `A header value is at most ${SEND_LIMITS.headerValue} characters.`);
      seen.add(name.toLowerCase());
    }
  })
  .meta({ description: "Custom headers, name to value" });

export const Tags = z
  .record(z.string(), z.string())
  .superRefine((tags, ctx) => {
    // Without the faults of each: they could be a million.
    if (Object.keys(tags).length > SEND_LIMITS.tags) return issue(ctx, [], "too_big", `At most ${SEND_LIMITS.tags} tags.`);
    for (const [name, value] of Object.entries(tags)) {
      if (!/^[A-Za-z0-9_.:-]{1,64}$/.test(name))
        issue(ctx, [name], "invalid_tag", "A tag name is 1 to 64 letters, digits, and _ . : - only.");
      if (value.length > SEND_LIMITS.tagValue) issue(ctx, [name], "too_big", `A tag value is at most ${SEND_LIMITS.tagValue} characters.`);
      if (unsafe(value))
        issue(ctx, [name], "invalid_characters", describeCharacters(value, "A tag value holds no line breaks or control characters."));
    }
  })
  .meta({ description: "Your own tracking tags, name to value; not sent to the recipient" });

/** A tag as a filter names it. */
export const TagFilter = z
  .string()
  .max(400)
  .regex(/^[^=]+=/, "A name and a value are needed: name=value.");

export const Attachment = z
  .strictObject({
    filename: z
      .string()
      .min(1)
      .max(255)
      .refine((s) => !unsafe(s) && !/[/\\]/.test(s), refuseCharacters("A file name holds no slashes, line breaks or control characters."))
      .meta({ description: "Name the recipient sees" }),
    // The server checks it where it decodes it, in steps: zod would take 50 ms at once for 20 MiB.
    content: z.string().meta({ format: "base64", contentEncoding: "base64", description: "The file, base64" }) as unknown as z.ZodBase64,
    contentType: z
      .string()
      .max(255)
      .regex(
        /^[A-Za-z0-9!#$&^_.+-]+\/[A-Za-z0-9!#$&^_.+-]+(?: *; *[A-Za-z0-9!#$&^_.+-]+=(?:[A-Za-z0-9!#$%&'*^_`{|}~.+-]+|"[ !#-[\]-~]*"))*$/,
        "A media type such as application/pdf is needed, with or without parameters.",
      )
      .refine((t) => !/^(?:multipart|message)\//i.test(t), {
        message: "multipart/* and message/* cannot be attached.",
        params: { code: "invalid_format" },
      })
      .optional()
      .meta({
        description:
          "Media type, with any parameters; guessed from the name when absent. `text/calendar; method=REQUEST` is an invitation: mail programs show it with buttons",
      }),
    contentId: z
      .string()
      .regex(/^[!#-'*-;=?-[\]-~]{1,128}$/, 'Needed are 1 to 128 visible ASCII characters without " ( ) < > and backslash.')
      .optional()
      .meta({ description: "Shows it inline: <img src='cid:…'>" }),
  })
  .meta({ id: "Attachment" });

export const Content = z
  .string()
  .min(1)
  // Neither a mail (RFC 5322) nor a Postgres text can contain U+0000.
  .refine((s) => s.isWellFormed() && !s.includes("\0"), refuseCharacters("Text cannot contain U+0000."))
  // A character is up to three bytes; only long texts are worth counting exactly.
  .refine((s) => s.length * 3 <= SEND_LIMITS.content || new TextEncoder().encode(s).length <= SEND_LIMITS.content, {
    message: "At most 5 MiB.",
    params: { code: "too_big" },
  });

export const Attachments = z
  .array(Attachment)
  .max(SEND_LIMITS.attachments)
  .refine((list) => list.reduce((sum, a) => sum + decodedSize(a.content), 0) <= SEND_LIMITS.attachmentBytes, {
    message: "At most 20 MiB of attachments.",
    params: { code: "too_big" },
  })
  .meta({ description: "Files, up to 20 and 20 MiB in all" });

export const ScheduledAt = Instant.meta({
  description: `Send later, at this instant (ISO 8601), at most ${SEND_LIMITS.scheduleDays} days ahead`,
});

const utmValue = z
  .string()
  .min(1)
  .max(SEND_LIMITS.utmValue)
  .refine((s) => !unsafe(s), refuseCharacters("A UTM value holds no line breaks or control characters."));

/** UTM parameters of the links of a mail. */
export const Utm = z
  .strictObject({
    source: utmValue.optional(),
    medium: utmValue.optional(),
    campaign: utmValue.optional(),
    term: utmValue.optional(),
    content: utmValue.optional(),
  })
  .meta({ id: "Utm", description: "UTM parameters added to links that have none of that name, tracked or not" });
export type Utm = z.infer<typeof Utm>;

/** Tracking of a mail. Off by default for single sends; opens and clicks are on by default for campaigns. */
export const Tracking = z
  .strictObject({
    opens: z.boolean().optional().meta({ description: "Record when the mail is opened, by an image of one pixel at its end" }),
    clicks: z.boolean().optional().meta({ description: "Record clicks: links lead over this server; those with data-no-track do not" }),
    utm: Utm.optional(),
  })
  .meta({ id: "Tracking", description: "Open and click tracking; off unless asked for" });
export type Tracking = z.infer<typeof Tracking>;

export const BypassUnsubscribe = z.boolean().meta({
  description:
    "Send to people who unsubscribed too; for receipts, password resets and other mail they need. Bounces and complaints still block",
});

/** One recipient of a batch that was not queued, and why. */
export const FailedRecipient = z.object({ to: z.string(), code: z.enum(ERROR_CODES), message: z.string() }).meta({ id: "FailedRecipient" });

/** True if a text contains characters not allowed in a mail header: line breaks, NUL, other controls, lone surrogates. */
function unsafe(text: string): boolean {
  return /[\p{Cc}\u2028\u2029]/u.test(text) || !text.isWellFormed();
}

/** The number of bytes that a base64 text encodes. */
function decodedSize(base64: string): number {
  return Math.floor((base64.length * 3) / 4) - (base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0);
}
