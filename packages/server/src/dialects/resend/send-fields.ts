import { type contract, explainMissingDate, parseTimeWords, SEND_LIMITS } from "@mailsvc/sdk/contract";
import * as z from "zod";
import type { CallOf } from "../../http/contract-calls.ts";
import { type ApiError, invalid } from "../../lib/api-error.ts";
import { FileContent, type FileFetcher, toBase64 } from "../files.ts";
import { drop, type Reads } from "../operation.ts";
import { getSlug } from "../template-slug.ts";
import { idOf } from "./ids.ts";

const Addresses = z.union([z.string(), z.array(z.string()).max(50)]);

const Attachment = z.object({
  content: FileContent.nullish(),
  path: z.string().nullish(),
  filename: z.string().nullish(),
  content_type: z.string().nullish(),
  content_id: z.string().nullish(),
});
type Attachment = z.output<typeof Attachment>;

/** An email as Resend takes it. The contract checks the limits of its fields. */
export const ResendEmail = z.object({
  from: z.string().nullish(),
  to: Addresses,
  cc: Addresses.nullish(),
  bcc: Addresses.nullish(),
  reply_to: Addresses.nullish(),
  subject: z.string().nullish(),
  html: z.string().nullish(),
  text: z.string().nullish(),
  headers: z.record(z.string(), z.string()).nullish(),
  tags: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
  attachments: z.array(Attachment).max(100).nullish(),
  scheduled_at: z.string().nullish(),
  template: z.object({ id: idOf("templates"), variables: z.record(z.string(), z.unknown()).nullish() }).nullish(),
  topic_id: idOf("topics").nullish(),
});
export type ResendEmail = z.output<typeof ResendEmail>;

/** An email in the words of the contract: a direct send, or one from a template. */
export type ContractEmail =
  | { readonly direct: CallOf<typeof contract.emails.send> }
  | { readonly rendered: CallOf<typeof contract.emails.sendTemplate> };

/**
 * The same email in the words of the contract, with files that are named by URL fetched, and words read as time. Throws ApiError. `at` is
 * its place in the request, such as `emails[2].`. The caller has checked the permission of the key.
 */
export async function toContractEmail(email: ResendEmail, calls: Reads, fetcher: FileFetcher, at = ""): Promise<ContractEmail> {
  const { from, subject, html, text, headers, tags, attachments, template } = email;
  const [to, cc, bcc, replyTo] = [email.to, email.cc, email.bcc, email.reply_to].map(listTexts) as [string[], string[], string[], string[]];
  if ((attachments ?? []).length > SEND_LIMITS.attachments)
    throw invalid(`${at}attachments`, "too_big", `${at}attachments: at most ${SEND_LIMITS.attachments} files in an email.`);
  const files: Awaited<ReturnType<typeof toFile>>[] = [];
  for (const [i, file] of (attachments ?? []).entries()) files.push(await toFile(file, `${at}attachments[${i}]`, fetcher));
  const fields = {
    to: to.length === 1 ? (to[0] as string) : to,
    ...drop({
      cc: cc.length > 0 ? cc : undefined,
      bcc: bcc.length > 0 ? bcc : undefined,
      // Recipients of one call get one mail, which has a row also for those who opted out of its topic.
      together: to.length > 1 || Boolean(email.topic_id) || undefined,
      replyTo: replyTo.length > 1 ? replyTo : replyTo[0],
      headers,
      tags: tags && Object.fromEntries(tags.map(({ name, value }) => [name, value])),
      attachments: files.length > 0 ? files : undefined,
      scheduledAt: email.scheduled_at ? readTime(email.scheduled_at, calls, `${at}scheduled_at`) : undefined,
    }),
  };
  if (template) {
    for (const [name, value] of Object.entries({ html, text }))
      if (value) throw invalid(`${at}${name}`, "not_allowed", `${at}${name}: an email from a template has its content. Leave it out.`);
    // The client for Go writes what was not given as an empty text.
    const own = drop({ from: from || undefined, subject: subject || undefined, variables: template.variables });
    return { rendered: { ...fields, ...own, slug: await getSlug(template.id, calls) } };
  }
  if (!from) throw missing(`${at}from`);
  if (!subject) throw missing(`${at}subject`);
  return { direct: { ...fields, from, subject, ...drop({ html: html || undefined, text: text || undefined }) } };
}

// As programs print times: also without a zone, and with a blank instead of the T.
const ISO_TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?) ?(Z|[+-]\d\d:?\d\d)?$/i;

/**
 * Returns the instant of `scheduled_at` in ISO 8601. Times without a zone, and words such as "tomorrow at 9am", are in UTC. Throws
 * ApiError validation_error.
 */
export function readTime(text: string, { deps }: Reads, path: string): string {
  const [, day, time, zone = "Z"] = ISO_TIME.exec(text.trim()) ?? [];
  const at = parseTimeWords(day === undefined ? text : `${day}T${time}${zone}`, deps.clock.now(), "UTC");
  if (at !== null) return new Date(at).toISOString();
  throw invalid(
    path,
    "invalid_format",
    `${path}: ${explainMissingDate(text) ?? `${JSON.stringify(text.slice(0, 100))} is no time. Write 2030-01-31T09:30:00Z or "in 1 hour".`}`,
  );
}

function listTexts(field: string | readonly string[] | null | undefined): string[] {
  return field === null || field === undefined ? [] : typeof field === "string" ? [field] : [...field];
}

async function toFile({ content, path: url, filename, content_type, content_id }: Attachment, path: string, fetcher: FileFetcher) {
  const contentId = content_id?.replace(/^<(.*)>$/, "$1");
  if (content !== null && content !== undefined) {
    if (!filename) throw missing(`${path}.filename`);
    return { filename, content: toBase64(content), ...drop({ contentType: content_type, contentId }) };
  }
  if (!url) throw invalid(`${path}.content`, "required", `${path} needs content or path.`);
  const fetched = await fetcher.fetch(url, `${path}.path`);
  const contentType = content_type ?? (filename ? undefined : fetched.contentType);
  return { filename: filename || fetched.filename, content: fetched.content, ...drop({ contentType, contentId }) };
}

function missing(path: string): ApiError {
  return invalid(path, "required", `Missing \`${path}\` field.`);
}
