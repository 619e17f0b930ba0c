import { BATCH_LIMITS, contract } from "@mailsvc/sdk/contract";
import * as z from "zod";
import type { CallOf, PreparedCall } from "../../http/contract-calls.ts";
import { ApiError, invalid } from "../../lib/api-error.ts";
import { prepareApiMessage } from "../../submission/submission.ts";
import { trustSenderInDev } from "../dev-senders.ts";
import { drop, type Operation, type Preparation, type Writes, writeOperation } from "../operation.ts";
import { toBulkStatus } from "./errors.ts";
import {
  Destination,
  Headers,
  ListManagement,
  readTemplateData,
  readTemplateName,
  refuseListManagement,
  Simple,
  Tags,
  TemplateUse,
  toShared,
  toSlug,
  toTags,
} from "./send-fields.ts";

const Mail = z.object({
  FromEmailAddress: z.string().nullish(),
  Destination: Destination.nullish(),
  ReplyToAddresses: z.array(z.string()).max(50).nullish(),
  Content: z.object({ Simple: Simple.nullish(), Raw: z.object({ Data: z.string() }).nullish(), Template: TemplateUse.nullish() }),
  EmailTags: Tags,
  ConfigurationSetName: z.string().nullish(),
  ...ListManagement,
});
type Mail = z.output<typeof Mail>;

/** A mail that its program made itself. */
interface PreparedRaw {
  readonly from: string;
  store(calls: Writes): Promise<string>;
}

type PreparedMail = { readonly from: string | undefined } & (
  | { readonly direct: PreparedCall<typeof contract.emails.send> }
  | { readonly rendered: PreparedCall<typeof contract.emails.sendTemplate> }
  | { readonly raw: PreparedRaw }
);

/** `SendEmail`: a mail of parts, one that is ready as MIME, or one from a template. */
export const sendEmail: Operation = writeOperation({
  method: "POST",
  path: "/v2/email/outbound-emails",
  note: "ListManagementOptions and TemplateContent are not here; ConfigurationSetName becomes a tag",
  body: Mail,
  bucket: "send",
  prepare: (mail, calls) => prepareMail(mail, calls),
  run: async (_mail, calls, prepared: PreparedMail) => {
    await trustSenderInDev(prepared.from, calls);
    return { MessageId: await finishMail(prepared, calls) };
  },
});

async function prepareMail(mail: Mail, calls: Preparation): Promise<PreparedMail> {
  const { Simple: simple, Raw: raw, Template: template } = mail.Content;
  calls.authorize(template ? contract.emails.sendTemplate : contract.emails.send);
  refuseListManagement(mail);
  if ([simple, raw, template].filter(Boolean).length > 1)
    throw invalid("Content", "unexpected", "Content takes one of Simple, Raw and Template.");
  const from = mail.FromEmailAddress ?? undefined;
  if (raw) {
    const prepared = await prepareRaw(raw.Data, mail, calls);
    return { from: prepared.from, raw: prepared };
  }
  const tags = mail.EmailTags;
  if (template) {
    const shared = toShared(mail.Destination, mail, { headers: template.Headers, attachments: template.Attachments, tags });
    const variables = readTemplateData(template.TemplateData, "Content.Template.TemplateData");
    const call = { ...shared, slug: toSlug(readTemplateName(template)), variables, ...drop({ from }) };
    return { from, rendered: await calls.prepare(contract.emails.sendTemplate, call) };
  }
  if (!simple) throw invalid("Content", "required", "Content needs Simple, Raw or Template.");
  if (!from) throw invalid("FromEmailAddress", "required", "FromEmailAddress is required.");
  const shared = toShared(mail.Destination, mail, { headers: simple.Headers, attachments: simple.Attachments, tags });
  const parts = drop({ html: simple.Body.Html?.Data, text: simple.Body.Text?.Data });
  return { from, direct: await calls.prepare(contract.emails.send, { ...shared, from, subject: simple.Subject.Data, ...parts }) };
}

/** Queues one mail; gives its id. */
async function finishMail(mail: PreparedMail, calls: Writes): Promise<string> {
  if ("raw" in mail) return mail.raw.store(calls);
  const answer = "direct" in mail ? await calls.finish(mail.direct) : await calls.finish(mail.rendered);
  if ("id" in answer) return answer.id;
  throw new Error("One mail has one id.");
}

/** Prepares a mail in MIME, which goes out as it is, as one that came over SMTP does. */
async function prepareRaw(data: string, mail: Mail, { deps, workspaceId, test, senders }: Preparation): Promise<PreparedRaw> {
  const { ToAddresses, CcAddresses, BccAddresses } = mail.Destination ?? {};
  const to = [...(ToAddresses ?? []), ...(CcAddresses ?? []), ...(BccAddresses ?? [])];
  const message = await prepareApiMessage(deps, { workspaceId, test, senders }, Buffer.from(data, "base64"), {
    ...{ from: mail.FromEmailAddress ?? null, to, tags: toTags(mail.EmailTags, mail) },
  });
  return { from: message.from, store: ({ tx }) => message.store(tx) };
}

const Bulk = z.object({
  FromEmailAddress: z.string().nullish(),
  ReplyToAddresses: z.array(z.string()).max(50).nullish(),
  DefaultEmailTags: Tags,
  DefaultContent: z.object({ Template: TemplateUse }),
  ConfigurationSetName: z.string().nullish(),
  BulkEmailEntries: z
    .array(
      z.object({
        Destination,
        ReplacementTags: Tags,
        ReplacementHeaders: Headers,
        ReplacementEmailContent: z
          .object({ ReplacementTemplate: z.object({ ReplacementTemplateData: z.string().nullish() }).nullish() })
          .nullish(),
      }),
    )
    .min(1)
    .max(BATCH_LIMITS.emails),
  ...ListManagement,
});

type BatchEmail = CallOf<typeof contract.emails.sendBatch>["emails"][number];

interface PreparedBulk {
  /** Null if no entry can be sent. */
  readonly call: PreparedCall<typeof contract.emails.sendBatch> | null;
  /** Errors of entries that are no mail, by their index. */
  readonly refused: ReadonlyMap<number, ApiError>;
}

/** `SendBulkEmail`: a mail for each entry, from one template. Entries that cannot be sent do not keep the others. */
export const sendBulkEmail: Operation = writeOperation({
  method: "POST",
  path: "/v2/email/outbound-bulk-emails",
  note: "up to 100 entries; ListManagementOptions and TemplateContent are not here",
  body: Bulk,
  bucket: "send",
  prepare: async (bulk, calls) => {
    calls.authorize(contract.emails.sendBatch);
    refuseListManagement(bulk);
    const { emails, refused } = toEmails(bulk);
    const call = emails.length > 0 ? await calls.prepare(contract.emails.sendBatch, { emails, mode: "permissive" }) : null;
    return { call, refused };
  },
  run: async (bulk, calls, { call, refused }: PreparedBulk) => {
    await trustSenderInDev(bulk.FromEmailAddress ?? undefined, calls);
    const rest = (call === null ? [] : (await calls.finish(call)).results).values();
    return {
      BulkEmailEntryResults: bulk.BulkEmailEntries.map((_, i) => {
        const result = refused.has(i) ? undefined : rest.next().value;
        if (result?.status === "queued") return { Status: "SUCCESS", MessageId: result.id };
        const error = result?.error ?? refused.get(i);
        return { Status: toBulkStatus(error?.code ?? "internal_error"), Error: error?.message };
      }),
    };
  },
});

function toEmails(bulk: z.output<typeof Bulk>): { emails: BatchEmail[]; refused: Map<number, ApiError> } {
  const { Template: template } = bulk.DefaultContent;
  const slug = toSlug(readTemplateName(template));
  const values = readTemplateData(template.TemplateData, "DefaultContent.Template.TemplateData");
  const refused = new Map<number, ApiError>();
  const emails = bulk.BulkEmailEntries.flatMap((entry, i) => {
    const path = `BulkEmailEntries[${i}].ReplacementEmailContent.ReplacementTemplate.ReplacementTemplateData`;
    const own = entry.ReplacementEmailContent?.ReplacementTemplate?.ReplacementTemplateData;
    const headers = [...(template.Headers ?? []), ...(entry.ReplacementHeaders ?? [])];
    const tags = [...(bulk.DefaultEmailTags ?? []), ...(entry.ReplacementTags ?? [])];
    try {
      const variables = { ...values, ...readTemplateData(own, path) };
      const shared = toShared(entry.Destination, bulk, { headers, attachments: template.Attachments, tags });
      return [{ ...shared, ...drop({ from: bulk.FromEmailAddress }), template: slug, variables }];
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refused.set(i, error);
      return [];
    }
  });
  return { emails, refused };
}
