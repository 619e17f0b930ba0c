import { contract, type Template, type TemplateDetail } from "@mailsvc/sdk/contract";
import * as z from "zod";
import { toPartUuid } from "../../lib/uuids.ts";
import { findTemplateBySlug } from "../../templates/templates.ts";
import { drop, type Operation, type Reads, readOperation, writeOperation } from "../operation.ts";
import { answerList, listQuery } from "./lists.ts";

const Variable = z.object({
  key: z.string(),
  type: z.enum(["string", "number"]),
  fallback_value: z.union([z.string(), z.number()]).nullish(),
});
const Fields = z.object({
  name: z.string().nullish(),
  alias: z.string().nullish(),
  from: z.string().nullish(),
  subject: z.string().nullish(),
  reply_to: z.union([z.string(), z.array(z.string()).max(50)]).nullish(),
  html: z.string().nullish(),
  text: z.string().nullish(),
  variables: z.array(Variable).max(50).nullish(),
});
type Fields = z.output<typeof Fields>;

/** Templates, by id or alias, which is their slug. */
export const templateOperations: readonly Operation[] = [
  writeOperation({
    method: "POST",
    path: "/templates",
    body: Fields.extend({ name: z.string(), html: z.string() }),
    status: 201,
    prepare: ({ name, ...fields }, { prepare }) => prepare(contract.templates.create, { ...toOwnFields(fields), name }),
    run: async (_input, { finish }, create) => ({ object: "template", id: (await finish(create)).id }),
  }),
  readOperation({
    path: "/templates",
    query: listQuery,
    run: (query, { read }) => answerList(query, (page) => read(contract.templates.list, page), showListed),
  }),
  readOperation({
    path: "/templates/:id",
    run: async ({ id }, calls) => {
      const template = await getTemplate(id, calls);
      const { data } = await calls.read(contract.templates.versions, { id: template.id, limit: 1 });
      return { object: "template", ...showTemplate(template), current_version_id: data[0]?.id ?? template.id };
    },
  }),
  writeOperation({
    method: "PATCH",
    path: "/templates/:id",
    body: Fields,
    prepare: async ({ id: named, ...fields }, calls) => {
      const { id } = await getTemplate(named, calls);
      return calls.prepare(contract.templates.update, { id, ...toOwnFields(fields), ...toCleared(fields) });
    },
    run: async (_input, { finish }, update) => ({ object: "template", id: (await finish(update)).id }),
  }),
  writeOperation({
    method: "DELETE",
    path: "/templates/:id",
    run: async ({ id: named }, calls) => {
      const { id } = await getTemplate(named, calls);
      await calls.write(contract.templates.delete, { id });
      return { object: "template", id, deleted: true };
    },
  }),
  writeOperation({
    method: "POST",
    path: "/templates/:id/publish",
    prepare: async ({ id: named }, calls) => calls.prepare(contract.templates.publish, { id: (await getTemplate(named, calls)).id }),
    run: async (_input, { finish }, publish) => ({ object: "template", id: (await finish(publish)).id }),
  }),
  writeOperation({
    method: "POST",
    path: "/templates/:id/duplicate",
    prepare: async ({ id }, calls) => {
      const { name, type, description, category, from, replyTo, layout, source } = await getTemplate(id, calls);
      const { subject, html, text, blocks, variables } = source;
      const copy = drop({ description, category, from, replyTo, layout, subject, html, text, blocks });
      return calls.prepare(contract.templates.create, { ...copy, type, variables, name: `${name} (copy)`.slice(-200) });
    },
    run: async (_input, { finish }, create) => ({ object: "template", id: (await finish(create)).id }),
  }),
];

/** The draft of a template, by id or alias. Throws ApiError not_found. */
async function getTemplate(named: string, { read, rows, workspaceId }: Reads): Promise<TemplateDetail> {
  const row = named.startsWith("tpl_") ? null : await findTemplateBySlug(rows, workspaceId, named);
  return read(contract.templates.get, { id: row?.id ?? named });
}

function toOwnFields({ name, alias, from, subject, reply_to, html, text, variables }: Fields) {
  const replyTo = typeof reply_to === "string" ? [reply_to] : (reply_to ?? []);
  return drop({
    ...{ name, slug: alias, from, replyTo: replyTo.length > 1 ? replyTo : replyTo[0] },
    ...{ subject: subject && toOwnSource(subject), html: html && toOwnSource(html), text: text && toOwnSource(text) },
    variables: variables?.map(({ key, type, fallback_value }) => ({
      ...{ name: key, type },
      // Without a fallback a send must give it.
      ...(fallback_value === null || fallback_value === undefined ? { required: true } : { default: fallback_value }),
    })),
  });
}

/** The fields that a change clears: by null, reply addresses also by an empty list. */
function toCleared({ from, subject, reply_to, text }: Fields) {
  return {
    ...(from === null && { from }),
    ...(subject === null && { subject }),
    ...((reply_to === null || reply_to?.length === 0) && { replyTo: null }),
    ...(text === null && { text }),
  };
}

function showListed({ id, slug, name, version, createdAt, updatedAt, publishedAt }: Template) {
  return {
    ...{ id, name, alias: slug, status: version === null ? "draft" : "published" },
    ...{ created_at: createdAt, updated_at: updatedAt, published_at: publishedAt },
  };
}

function showTemplate(template: TemplateDetail) {
  const { id, from, replyTo, source, hasUnpublishedChanges, createdAt, updatedAt } = template;
  return {
    ...showListed(template),
    ...{ from, reply_to: replyTo === null ? null : [replyTo].flat() },
    subject: source.subject && toForeignSource(source.subject),
    html: source.html && toForeignSource(source.html),
    text: source.text && toForeignSource(source.text),
    variables: source.variables.map(({ name, type, default: fallback }) => ({
      ...{ id: toPartUuid(id, name), key: name, type: type === "number" ? "number" : "string" },
      ...{ fallback_value: fallback ?? null, created_at: createdAt, updated_at: updatedAt },
    })),
    has_unpublished_versions: hasUnpublishedChanges,
  };
}

// A value, which both escape in HTML: Resend writes it in three braces, mailsvc in two.
const FOREIGN = /\{\{\{\s*([A-Za-z_]\w*)\s*\}\}\}/g;
const OWN = /(?<!\{)\{\{\s*([A-Za-z_]\w*)\s*\}\}(?!\})/g;

/** Converts the source of a template to that of mailsvc. Anything but text and variables stays as it is. */
function toOwnSource(source: string): string {
  return source.replace(FOREIGN, "{{$1}}");
}

/** The source of a template as Resend shows it. */
function toForeignSource(source: string): string {
  return source.replace(OWN, "{{{$1}}}");
}
