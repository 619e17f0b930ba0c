import { BATCH_LIMITS, contract, SEND_LIMITS } from "@mailsvc/sdk/contract";
import * as z from "zod";
import type { CallOf, PreparedCall } from "../../http/contract-calls.ts";
import { formatMailbox } from "../../lib/address-text.ts";
import { ApiError, invalid } from "../../lib/api-error.ts";
import { waitForTurn } from "../../lib/turn.ts";
import { MB } from "../../lib/units.ts";
import { trustSenderInDev } from "../dev-senders.ts";
import { toBase64 } from "../files.ts";
import { drop, type Preparation, writeOperation } from "../operation.ts";
import { getSlug } from "../template-slug.ts";

const Person = z.object({ email: z.string(), name: z.string().nullish() });
const People = z.array(Person).max(1000);
const Texts = z.record(z.string(), z.string());
const Switch = z.object({ enable: z.boolean().nullish() }).nullish();

/** The body of SendGrid's POST /v3/mail/send. The contract checks the limits of its fields. */
const Mail = z.object({
  personalizations: z
    .array(
      z.object({
        to: People.min(1),
        cc: People.nullish(),
        bcc: People.nullish(),
        from: Person.nullish(),
        subject: z.string().nullish(),
        headers: Texts.nullish(),
        substitutions: Texts.nullish(),
        dynamic_template_data: z.record(z.string(), z.unknown()).nullish(),
        custom_args: z.record(z.string(), z.unknown()).nullish(),
        send_at: z.int().nullish(),
      }),
    )
    .min(1)
    .max(BATCH_LIMITS.emails),
  from: Person.nullish(),
  reply_to: Person.nullish(),
  reply_to_list: People.nullish(),
  subject: z.string().nullish(),
  content: z.array(z.object({ type: z.string(), value: z.string() })).nullish(),
  attachments: z
    .array(
      z.object({
        content: z.string(),
        filename: z.string(),
        type: z.string().nullish(),
        disposition: z.string().nullish(),
        content_id: z.string().nullish(),
      }),
    )
    .nullish(),
  template_id: z.string().nullish(),
  headers: Texts.nullish(),
  categories: z.union([z.string(), z.array(z.string()).max(10)]).nullish(),
  custom_args: z.record(z.string(), z.unknown()).nullish(),
  send_at: z.int().nullish(),
  batch_id: z.string().nullish(),
  asm: z.unknown().optional(),
  mail_settings: z.object({ sandbox_mode: Switch }).nullish(),
  tracking_settings: z.object({ click_tracking: Switch, open_tracking: Switch }).nullish(),
});
type Mail = z.output<typeof Mail>;
type Personalization = Mail["personalizations"][number];
type Person = z.output<typeof Person>;

type BatchEmail = CallOf<typeof contract.emails.sendBatch>["emails"][number];

interface PreparedMail {
  readonly froms: ReadonlySet<string>;
  /** The mail is captured and not sent. */
  readonly sandbox: boolean;
  readonly call: PreparedCall<typeof contract.emails.sendBatch>;
}

/** `POST /v3/mail/send`: each personalization is one mail to all its recipients. In sandbox mode they are mail of a test key. */
export const sendMail = writeOperation({
  method: "POST",
  path: "/v3/mail/send",
  note: `up to ${BATCH_LIMITS.emails} personalizations of ${SEND_LIMITS.recipients} recipients and ten reply-to addresses; asm and batch_id are not here`,
  body: Mail,
  bucket: "send",
  prepare: (mail, calls) => prepareMail(mail, calls),
  run: async (_mail, calls, { froms, sandbox, call }: PreparedMail) => {
    for (const from of froms) await trustSenderInDev(from, calls);
    const { results } = await calls.finish(call, { test: sandbox });
    const [first] = results;
    return { id: first?.status === "queued" ? first.id : null, sandbox };
  },
  reshape: (output) => {
    const { id, sandbox } = z.object({ id: z.string(), sandbox: z.boolean() }).parse(output);
    return { status: sandbox ? 200 : 202, body: null, headers: { "x-message-id": id } };
  },
});

async function prepareMail(mail: Mail, calls: Preparation): Promise<PreparedMail> {
  calls.authorize(contract.emails.sendBatch);
  if (mail.asm !== undefined && mail.asm !== null) throw notHere("asm", "Public lists are what groups of unsubscribes are there.");
  if (mail.batch_id) throw notHere("batch_id", "Cancel mails by their ids: POST /api/v1/emails/:id/cancel.");
  const template = mail.template_id ? await getSlug(mail.template_id, calls) : undefined;
  // All mails share the list, so that its files are decoded and stored once.
  const attachments = mail.attachments?.map(toAttachment);
  const budget = new TextBudget();
  const emails: BatchEmail[] = [];
  for (const [i, personalization] of mail.personalizations.entries()) {
    if (i > 0) await waitForTurn();
    const at = `personalizations.${i}`;
    const fill = createFill(personalization.substitutions ?? {}, at, budget);
    emails.push({ ...(await toEmail(mail, personalization, template, at, fill)), ...drop({ attachments }) });
  }
  return {
    froms: new Set(emails.flatMap(({ from }) => from ?? [])),
    sandbox: mail.mail_settings?.sandbox_mode?.enable === true,
    call: await calls.prepare(contract.emails.sendBatch, { emails, mode: "strict" }),
  };
}

async function toEmail(
  mail: Mail,
  personalization: Personalization,
  template: string | undefined,
  at: string,
  fill: Fill,
): Promise<BatchEmail> {
  const { to, cc, bcc, dynamic_template_data: variables } = personalization;
  const from = personalization.from ?? mail.from;
  if (!from) throw invalid("from", "required", "from is required.");
  const replyTo = mail.reply_to ? [mail.reply_to] : (mail.reply_to_list ?? []);
  const subject = personalization.subject ?? mail.subject;
  const sendAt = personalization.send_at ?? mail.send_at;
  const [only, second] = to;
  return {
    to: only && !second ? toText(only) : to.map(toText),
    ...drop({
      from: toText(from),
      cc: cc?.length ? cc.map(toText) : undefined,
      bcc: bcc?.length ? bcc.map(toText) : undefined,
      together: to.length > 1 || undefined,
      subject: subject ? await fill(subject, "subject") : undefined,
      ...(template === undefined && (await toContent(mail, fill))),
      template,
      variables: template === undefined ? undefined : variables,
      replyTo: replyTo.length > 1 ? replyTo.map(toText) : replyTo[0] && toText(replyTo[0]),
      headers: mail.headers || personalization.headers ? { ...mail.headers, ...personalization.headers } : undefined,
      tags: toTags(mail, personalization),
      scheduledAt: sendAt ? readTime(sendAt, at) : undefined,
      tracking: toTracking(mail),
    }),
  };
}

/** The parts of a mail by type. Throws ApiError not_implemented for another type. */
async function toContent({ content }: Mail, fill: Fill) {
  const parts: Pick<BatchEmail, "html" | "text" | "icalEvent"> = {};
  for (const [i, { type, value }] of (content ?? []).entries()) {
    const media = type.split(";", 1)[0]?.trim().toLowerCase();
    const name = media === "text/html" ? "html" : media === "text/plain" ? "text" : null;
    if (media === "text/calendar") parts.icalEvent = { content: await fill(value, `content.${i}.value`) };
    else if (name === null)
      throw notHere(`content.${i}.type`, "Contents are text/plain, text/html and text/calendar; attach anything else.");
    else if (value !== "") parts[name] = await fill(value, `content.${i}.value`);
  }
  return parts;
}

/** Categories and arguments as tags: `category`, `category2`, and each argument under its name. */
function toTags(mail: Mail, { custom_args }: Personalization): Record<string, string> | undefined {
  const categories = typeof mail.categories === "string" ? [mail.categories] : (mail.categories ?? []);
  const named = categories.map((category, i) => [i === 0 ? "category" : `category${i + 1}`, category] as const);
  const own = Object.entries({ ...mail.custom_args, ...custom_args }).map(([name, value]) => [name, String(value)] as const);
  return named.length + own.length === 0 ? undefined : Object.fromEntries([...named, ...own]);
}

function toTracking({ tracking_settings: settings }: Mail) {
  const tracking = drop({ opens: settings?.open_tracking?.enable, clicks: settings?.click_tracking?.enable });
  return Object.keys(tracking).length === 0 ? undefined : tracking;
}

function toAttachment({ content, filename, type, disposition, content_id }: NonNullable<Mail["attachments"]>[number]) {
  const contentId = disposition === "inline" ? content_id : undefined;
  return { content: toBase64(content), filename, ...drop({ contentType: type, contentId }) };
}

function toText({ email, name }: Person): string {
  return formatMailbox(email, name);
}

function readTime(seconds: number, at: string): string {
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) throw invalid(`${at}.send_at`, "invalid_format", "send_at must be a Unix time in seconds.");
  return date.toISOString();
}

function notHere(field: string, hint: string): ApiError {
  return new ApiError("not_implemented", `${field} is not here.`, {
    details: [{ path: field, code: "not_implemented", message: `${field} is not here.` }],
    hint,
  });
}

/** SendGrid's own limit: what the keys and values of a personalization take in all, bytes. */
const MAX_SUBSTITUTIONS = 10_000;
/** Maximum length of the texts of all mails of a request, in characters: as much as a body with each of them written out. */
const MAX_TEXTS = 30 * MB;
const PER_TURN = 10_000;

/** Counts the texts of a request. Throws ApiError validation_error once they are too long. */
class TextBudget {
  #left = MAX_TEXTS;

  take(text: string): void {
    this.#left -= text.length;
    if (this.#left >= 0) return;
    const message = `The texts of all personalizations take more than ${MAX_TEXTS / MB} MB together. Send fewer personalizations in one request.`;
    throw invalid("personalizations", "too_big", message);
  }
}

/** Puts values into a text, of which `field` is the place in the request. */
type Fill = (text: string, field: string) => Promise<string>;

/**
 * Makes a function that replaces each key, as it stands there, by its value: in one pass over the text, the longest of several keys
 * first. Values are not searched for keys. Throws ApiError validation_error for a text or for substitutions that are too long.
 */
function createFill(substitutions: Readonly<Record<string, string>>, at: string, budget: TextBudget): Fill {
  const values = new Map(Object.entries(substitutions).filter(([key]) => key !== ""));
  const bytes = [...values].reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  if (bytes > MAX_SUBSTITUTIONS)
    throw invalid(`${at}.substitutions`, "too_big", `substitutions take ${bytes} bytes; ${MAX_SUBSTITUTIONS} are allowed.`);
  const keys = [...values.keys()].sort((one, other) => other.length - one.length);
  const pattern = keys.length === 0 ? null : new RegExp(keys.map((key) => key.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("|"), "g");
  return async (text, field) => {
    const filled = pattern === null ? text : await replaceAll(text, pattern, values, field);
    budget.take(filled);
    return filled;
  };
}

async function replaceAll(text: string, pattern: RegExp, values: ReadonlyMap<string, string>, field: string): Promise<string> {
  let filled = "";
  let from = 0;
  let count = 0;
  for (const { 0: key, index } of text.matchAll(pattern)) {
    filled += text.slice(from, index) + (values.get(key) ?? "");
    from = index + key.length;
    if (filled.length > SEND_LIMITS.content)
      throw invalid(field, "too_big", `With its substitutions ${field} takes more than ${SEND_LIMITS.content / MB} MB.`);
    count += 1;
    if (count % PER_TURN === 0) await waitForTurn();
  }
  return filled + text.slice(from);
}
