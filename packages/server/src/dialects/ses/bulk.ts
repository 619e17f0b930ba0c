import { BATCH_LIMITS, contract } from "@mailsvc/sdk/contract";
import * as z from "zod";
import type { CallOf, PreparedCall } from "../../http/contract-calls.ts";
import { trustSenderInDev } from "../dev-senders.ts";
import { drop } from "../drop.ts";
import { type Operation, writeOperation } from "../operation.ts";
import { toBulkStatus } from "./errors.ts";
import {
  Destination,
  Headers,
  ListManagement,
  readTemplateData,
  readTemplateName,
  refuseListManagement,
  Tags,
  TemplateUse,
  toShared,
} from "./send-fields.ts";
import { toSlug } from "./template-name.ts";

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
    const emails = toEmails(bulk);
    return calls.prepare(contract.emails.sendBatch, { emails, mode: "permissive" });
  },
  run: async (bulk, calls, prepared: PreparedCall<typeof contract.emails.sendBatch>) => {
    await trustSenderInDev(bulk.FromEmailAddress ?? undefined, calls);
    const { results } = await calls.finish(prepared);
    return {
      BulkEmailEntryResults: results.map((result) =>
        result.status === "queued"
          ? { Status: "SUCCESS", MessageId: result.id }
          : { Status: toBulkStatus(result.error.code), Error: result.error.message },
      ),
    };
  },
});

function toEmails(bulk: z.output<typeof Bulk>): BatchEmail[] {
  const { Template: template } = bulk.DefaultContent;
  const slug = toSlug(readTemplateName(template));
  const values = readTemplateData(template.TemplateData, "DefaultContent.Template.TemplateData");
  return bulk.BulkEmailEntries.map((entry, i) => {
    const path = `BulkEmailEntries[${i}].ReplacementEmailContent.ReplacementTemplate.ReplacementTemplateData`;
    const own = entry.ReplacementEmailContent?.ReplacementTemplate?.ReplacementTemplateData;
    const headers = [...(template.Headers ?? []), ...(entry.ReplacementHeaders ?? [])];
    const tags = [...(bulk.DefaultEmailTags ?? []), ...(entry.ReplacementTags ?? [])];
    return {
      ...toShared(entry.Destination, bulk, { headers, attachments: template.Attachments, tags }),
      ...drop({ from: bulk.FromEmailAddress }),
      template: slug,
      variables: { ...values, ...readTemplateData(own, path) },
    };
  });
}
