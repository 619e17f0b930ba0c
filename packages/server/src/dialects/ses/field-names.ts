import { contract, type Endpoint } from "@mailsvc/sdk/contract";
import type { FieldNames } from "../rename-fields.ts";

const DESTINATION: FieldNames = {
  from: "FromEmailAddress",
  to: "Destination.ToAddresses",
  cc: "Destination.CcAddresses",
  bcc: "Destination.BccAddresses",
  replyTo: "ReplyToAddresses",
  tags: "EmailTags",
};
const SIMPLE = "Content.Simple";
const BULK: FieldNames = {
  emails: "BulkEmailEntries",
  ...Object.fromEntries(Object.entries(DESTINATION).map(([name, own]) => [`emails.${name}`, own])),
  "emails.template": "TemplateName",
  "emails.variables": "TemplateData",
};
const TEMPLATE: FieldNames = { name: "TemplateName", slug: "TemplateName", subject: "Subject", html: "Html", text: "Text" };

/** The fields that SES calls otherwise. */
export const FIELD_NAMES: ReadonlyMap<Endpoint, FieldNames> = new Map<Endpoint, FieldNames>([
  [
    contract.emails.send,
    {
      ...DESTINATION,
      subject: `${SIMPLE}.Subject`,
      html: `${SIMPLE}.Body.Html`,
      text: `${SIMPLE}.Body.Text`,
      attachments: `${SIMPLE}.Attachments`,
    },
  ],
  [contract.emails.sendTemplate, { ...DESTINATION, slug: "TemplateName", variables: "TemplateData" }],
  [contract.emails.sendBatch, BULK],
  [contract.templates.create, TEMPLATE],
  [contract.templates.update, TEMPLATE],
  [contract.suppressions.create, { email: "EmailAddress", reason: "Reason" }],
]);
