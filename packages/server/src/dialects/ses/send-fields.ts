import * as z from "zod";
import { ApiError, invalid } from "../../lib/api-error.ts";
import { toBase64 } from "../files.ts";
import { drop } from "../operation.ts";

const Addresses = z.array(z.string()).max(50).nullish();
const Named = z
  .array(z.object({ Name: z.string(), Value: z.string() }))
  .max(100)
  .nullish();
const Data = z.object({ Data: z.string() });

export const Destination = z.object({ ToAddresses: Addresses, CcAddresses: Addresses, BccAddresses: Addresses });
export const Tags = Named;
export const Headers = Named;
export const TemplateContent = z.object({ Subject: z.string().nullish(), Text: z.string().nullish(), Html: z.string().nullish() });

const Attachments = z
  .array(
    z.object({
      RawContent: z.string(),
      FileName: z.string(),
      ContentType: z.string().nullish(),
      ContentDisposition: z.string().nullish(),
      ContentId: z.string().nullish(),
    }),
  )
  .nullish();

export const Simple = z.object({
  Subject: Data,
  Body: z.object({ Text: Data.nullish(), Html: Data.nullish() }),
  Headers,
  Attachments,
});

export const TemplateUse = z.object({
  TemplateName: z.string().nullish(),
  TemplateArn: z.string().nullish(),
  TemplateContent: TemplateContent.nullish(),
  TemplateData: z.string().nullish(),
  Headers,
  Attachments,
});

/** Fields that decide about the recipients of a contact list, and are not here. */
export const ListManagement = { ListManagementOptions: z.unknown().optional() };

/** The recipients of one mail, and the fields that all kinds of content share, in the words of the contract. */
export function toShared(
  destination: z.output<typeof Destination> | null | undefined,
  mail: { ReplyToAddresses?: string[] | null | undefined; ConfigurationSetName?: string | null | undefined },
  { headers, attachments, tags }: { headers: Lists["Headers"]; attachments: Lists["Attachments"]; tags: Lists["Headers"] },
) {
  const [to, cc, bcc] = [destination?.ToAddresses ?? [], destination?.CcAddresses ?? [], destination?.BccAddresses ?? []];
  const [first, second] = to;
  if (first === undefined)
    throw invalid("Destination.ToAddresses", "required", "Destination.ToAddresses needs an address: a mail has somebody in To.");
  const replyTo = mail.ReplyToAddresses ?? [];
  const own = toTags(tags, mail);
  return {
    to: second === undefined ? first : to,
    ...drop({
      cc: cc.length > 0 ? cc : undefined,
      bcc: bcc.length > 0 ? bcc : undefined,
      together: to.length > 1 || undefined,
      replyTo: replyTo.length > 1 ? replyTo : replyTo[0],
      headers: headers?.length ? toRecord(headers) : undefined,
      tags: Object.keys(own).length > 0 ? own : undefined,
      attachments: attachments?.length ? attachments.map(toAttachment) : undefined,
    }),
  };
}

type Lists = Pick<z.output<typeof Simple>, "Headers" | "Attachments">;

/** The tags of a mail, with the name of its configuration set among them. */
export function toTags(
  tags: Lists["Headers"],
  { ConfigurationSetName: set }: { ConfigurationSetName?: string | null | undefined },
): Record<string, string> {
  return { ...toRecord(tags ?? []), ...(set && { "configuration-set": set }) };
}

function toRecord(named: readonly { Name: string; Value: string }[]): Record<string, string> {
  return Object.fromEntries(named.map(({ Name, Value }) => [Name, Value]));
}

function toAttachment({ RawContent, FileName, ContentType, ContentDisposition, ContentId }: NonNullable<Lists["Attachments"]>[number]) {
  const contentId = ContentDisposition === "INLINE" ? ContentId : undefined;
  return { content: toBase64(RawContent), filename: FileName, ...drop({ contentType: ContentType, contentId }) };
}

/** The values of a template, which AWS takes as a text of JSON. Throws ApiError validation_error. */
export function readTemplateData(text: string | null | undefined, path: string): Record<string, unknown> {
  if (!text) return {};
  try {
    const data: unknown = JSON.parse(text);
    if (typeof data === "object" && data !== null && !Array.isArray(data)) return data as Record<string, unknown>;
  } catch {
    // The error below says what is expected.
  }
  throw invalid(path, "invalid_format", `${path} must be a JSON object as text, such as {"name":"Ada"}.`);
}

/** The name of the template of a send. Throws ApiError for the ways to name one that are not here. */
export function readTemplateName({ TemplateName, TemplateArn, TemplateContent: content }: z.output<typeof TemplateUse>): string {
  if (content) throw notHere("TemplateContent", "Create the template first: CreateEmailTemplate.");
  const name = TemplateName || TemplateArn?.split("/").at(-1);
  if (!name) throw invalid("TemplateName", "required", "TemplateName is required.");
  return name;
}

/** Throws ApiError not_implemented if a mail is to obey the subscriptions of a contact list of AWS. */
export function refuseListManagement({ ListManagementOptions: options }: { ListManagementOptions?: unknown }): void {
  if (options !== undefined && options !== null)
    throw notHere("ListManagementOptions", "Mail to a list that people can leave is a campaign here: mailsvc campaigns create.");
}

function notHere(field: string, hint: string): ApiError {
  return new ApiError("not_implemented", `${field} is not here.`, { hint });
}

/** The slug of a template by its name at AWS, such as my-template for MyTemplate_1. Throws ApiError for a name that leaves none. */
export function toSlug(name: string): string {
  const slug = name
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, "-")
    .replace(/[-_]*-[-_]*|_+/g, (run) => run[0] as string)
    .replace(/^[-_]+|[-_]+$/g, "");
  if (slug === "") throw invalid("TemplateName", "invalid_format", "TemplateName must have letters or digits.");
  return slug;
}

/** The name of a template: the one it was created with, as long as it leads to its slug. */
export function showName({ name, slug }: { readonly name: string; readonly slug: string }): string {
  return /^[\w-]{1,64}$/.test(name) && toSlug(name) === slug ? name : slug;
}
