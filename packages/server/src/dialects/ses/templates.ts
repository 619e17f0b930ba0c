import { contract } from "@mailsvc/sdk/contract";
import * as z from "zod";
import { invalid, notFound } from "../../lib/api-error.ts";
import { findTemplateBySlug } from "../../templates/templates.ts";
import { drop, type Operation, type Reads, readOperation, writeOperation } from "../operation.ts";
import { readTemplateData, showName, TemplateContent, toSlug } from "./send-fields.ts";

const Content = z.object({ TemplateContent });

/** Templates by their names, which lead to slugs. What is created or changed is published, as AWS has no drafts. */
export const templateOperations: readonly Operation[] = [
  writeOperation({
    method: "POST",
    path: "/v2/email/templates",
    body: Content.extend({ TemplateName: z.string() }),
    prepare: ({ TemplateName: name, TemplateContent: content }, { prepare }) =>
      prepare(contract.templates.create, { name, slug: toSlug(name), ...toSource(content), publish: true }),
    run: async (_input, { finish }, create) => {
      await finish(create);
      return {};
    },
  }),
  readOperation({
    path: "/v2/email/templates",
    query: z.object({ NextToken: z.string().optional(), PageSize: z.coerce.number().int().min(1).max(100).default(10) }),
    run: async ({ NextToken, PageSize }, { read }) => {
      const { data, pagination } = await read(contract.templates.list, { limit: PageSize, ...drop({ cursor: NextToken }) });
      return {
        TemplatesMetadata: data.map((template) => ({
          TemplateName: showName(template),
          CreatedTimestamp: Date.parse(template.createdAt) / 1000,
        })),
        ...drop({ NextToken: pagination.nextCursor }),
      };
    },
  }),
  readOperation({
    path: "/v2/email/templates/:name",
    run: async ({ name }, calls) => {
      const template = await calls.read(contract.templates.get, { id: await getId(name, calls) });
      const { subject, html, text } = template.source;
      return { TemplateName: showName(template), TemplateContent: drop({ Subject: subject, Html: html, Text: text }) };
    },
  }),
  writeOperation({
    method: "PUT",
    path: "/v2/email/templates/:name",
    body: Content,
    prepare: async ({ name, TemplateContent: content }, calls) =>
      calls.prepare(contract.templates.update, {
        ...{ id: await getId(name, calls), publish: true },
        // A template is replaced whole: a part that is not given is gone.
        ...{ subject: content.Subject ?? null, html: content.Html ?? null, text: content.Text ?? null },
      }),
    run: async (_input, { finish }, update) => {
      await finish(update);
      return {};
    },
  }),
  writeOperation({
    method: "DELETE",
    path: "/v2/email/templates/:name",
    run: async ({ name }, calls) => {
      await calls.write(contract.templates.delete, { id: await getId(name, calls) });
      return {};
    },
  }),
  writeOperation({
    method: "POST",
    path: "/v2/email/templates/:name/render",
    body: z.object({ TemplateData: z.string() }),
    prepare: async ({ name, TemplateData }, calls) =>
      calls.prepare(contract.templates.preview, {
        id: await getId(name, calls),
        variables: readTemplateData(TemplateData, "TemplateData"),
      }),
    run: async (_input, { finish }, render) => {
      const { missingVariables, ...parts } = await finish(render);
      const [missing] = missingVariables;
      if (missing !== undefined) throw invalid("TemplateData", "missing", `Attribute '${missing}' is not present in the rendering data.`);
      return { RenderedTemplate: toMime(parts) };
    },
  }),
];

function toSource({ Subject, Html, Text }: z.output<typeof TemplateContent>) {
  return drop({ subject: Subject, html: Html, text: Text });
}

/** The id of a template by its name. Throws ApiError not_found. */
async function getId(name: string, { rows, workspaceId }: Reads): Promise<string> {
  const row = await findTemplateBySlug(rows, workspaceId, toSlug(name));
  if (row === null) throw notFound("template", name);
  return row.id;
}

/** A rendered template as the message that AWS shows. */
function toMime({ subject, html, text }: { subject: string | null; html: string | null; text: string | null }): string {
  const boundary = "rendered-template";
  const part = (type: string, content: string | null): string[] =>
    content === null
      ? []
      : [`--${boundary}`, `Content-Type: text/${type}; charset=UTF-8`, "Content-Transfer-Encoding: 8bit", "", content, ""];
  return [
    ...[`Subject: ${subject ?? ""}`, "MIME-Version: 1.0", `Content-Type: multipart/alternative; boundary="${boundary}"`, ""],
    ...[...part("plain", text), ...part("html", html), `--${boundary}--`, ""],
  ].join("\r\n");
}
