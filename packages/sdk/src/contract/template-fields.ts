import { MailboxText, ReplyTo } from "./address.ts";
import { refuseCharacters } from "./characters.ts";
import { limits } from "./limits.ts";
import { line } from "./name.ts";
import { issue } from "./send-fields.ts";
import * as z from "./zod.ts";

export const TEMPLATE_LIMITS = limits("templates", "A template", {
  name: [200, "name", "characters"],
  slug: [100, "slug", "characters"],
  description: [1000, "description", "characters"],
  category: [100, "category", "characters"],
  subject: [998, "subject", "characters"],
  source: [1024 * 1024, "source", "characters"],
  variables: [200, "declared variables"],
  blocks: [1000, "blocks of a template made of blocks"],
  sourceFiles: [100, "files that its HTML was rendered from"],
  sourcePath: [200, "path of such a file", "characters"],
  usedBy: [100, "campaigns, automations and templates that are named as using it, each"],
  versions: [100, "versions kept; publishing one more deletes the oldest"],
  testRecipients: [5, "recipients of a test send"],
});

/** The type of a template. A layout wraps other templates, a partial is included in them; neither is sent itself. */
export const TEMPLATE_TYPES = ["transactional", "marketing", "layout", "partial"] as const;
/**
 * The kind of its content: HTML; blocks, from which the service renders it (docs/blocks.md); or the blocks of an editor of your own
 * (JSON_BLOCKS), which cannot be rendered for sending.
 */
export const TEMPLATE_KINDS = ["HTML", "BLOCKS", "JSON_BLOCKS"] as const;
export const TEMPLATE_STATUSES = ["ACTIVE", "INACTIVE"] as const;
export const VARIABLE_TYPES = ["string", "number", "boolean", "date", "array", "object", "html"] as const;
/** Renderers that make a template's HTML before it is stored. */
export const TEMPLATE_RENDERERS = ["mjml", "react-email"] as const;
const refused = { message: "The text holds a U+0000 character or a lone surrogate.", params: { code: "invalid_characters" } };

/** POST /api/v1/send/batch sends no template. */
export const RESERVED_SLUG = "batch";

/** Identifies a template in paths: lower-case letters and digits, with dashes or underscores between them. */
export const Slug = z
  .string()
  .max(TEMPLATE_LIMITS.slug)
  .regex(/^[a-z0-9]+(?:[-_][a-z0-9]+)*$/, "Lower-case letters and digits are needed, with - or _ between them.")
  .refine((slug) => slug !== RESERVED_SLUG, {
    message: "batch is taken: it is part of the address to which batches are sent.",
    params: { code: "reserved" },
  })
  .meta({ description: "Identifier used in sends and in {{> …}}: lower-case letters, digits, - and _", examples: ["order-shipped"] });

const Source = z.string().max(TEMPLATE_LIMITS.source).refine(storable, refused);

const VARIABLE_NAME = /^[\p{L}_$][\p{L}\p{N}_$-]*(?:(?:\[\])?\.[\p{L}_$][\p{L}\p{N}_$-]*)*$/u;

/** A variable as the author declares it. Undeclared variables are inferred from the template. */
export const VariableDeclaration = z
  .strictObject({
    name: z
      .string()
      .max(100)
      .regex(VARIABLE_NAME, "A name such as firstName, user.name or items[].price is needed.")
      .refine((name) => !name.split(/\[?\]?\./).some((part) => /^(?:prototype|constructor|__.*__)$/.test(part)), {
        message: "This name is reserved and cannot be a variable.",
        params: { code: "prototype" },
      }),
    type: z.enum(VARIABLE_TYPES).optional(),
    required: z.boolean().optional(),
    default: z.unknown().optional(),
    description: Line(500).optional(),
  })
  .meta({ id: "VariableDeclaration" });

const SOURCE_PATH = /^(?!.*(?:^|\/)(?:template\.(?:json|html|txt|blocks\.json)$|node_modules\/))\w[\w.-]*(?:\/\w[\w.-]*)*$/;

/** The files that a template's HTML was rendered from, by their paths in the template's folder. The server keeps them and never runs them. */
export const TemplateOrigin = z
  .strictObject({
    kind: z.enum(TEMPLATE_RENDERERS),
    files: z
      .record(
        z
          .string()
          .max(TEMPLATE_LIMITS.sourcePath)
          .regex(SOURCE_PATH, "A path inside the template's folder is needed, such as template.mjml or parts/button.tsx."),
        Source,
      )
      .refine((files) => Object.keys(files).length > 0, { message: "At least one file is needed.", params: { code: "too_small" } })
      .refine((files) => Object.keys(files).length <= TEMPLATE_LIMITS.sourceFiles, {
        message: `At most ${TEMPLATE_LIMITS.sourceFiles} files.`,
        params: { code: "too_big" },
      })
      .refine((files) => Object.values(files).reduce((sum, text) => sum + text.length, 0) <= TEMPLATE_LIMITS.source, {
        message: "At most 1 MiB.",
        params: { code: "too_big" },
      })
      .meta({ description: "Texts by path" }),
  })
  .meta({ id: "TemplateOrigin" });
export type TemplateOrigin = z.infer<typeof TemplateOrigin>;

/** The fields of a template in requests that create, change or render one. */
export const templateFields = {
  name: line(TEMPLATE_LIMITS.name).meta({ description: "Display name" }),
  slug: Slug,
  description: Line(TEMPLATE_LIMITS.description).nullable().meta({ description: "Description" }),
  category: line(TEMPLATE_LIMITS.category).nullable().meta({ description: "Category to sort it under" }),
  type: z.enum(TEMPLATE_TYPES).meta({ description: "Purpose of the template: transactional, marketing, layout or partial" }),
  subject: Line(TEMPLATE_LIMITS.subject).nullable().meta({ description: "Subject; may contain {{ variables }}" }),
  from: MailboxText.nullable().meta({ description: "Default sender; a send may override it" }),
  replyTo: ReplyTo.nullable().meta({ description: "Reply-To address, or up to ten; auto to receive the replies here" }),
  html: Source.nullable().meta({ description: "HTML with Handlebars" }),
  text: Source.nullable().meta({ description: "Plain text with Handlebars; generated from the HTML when absent" }),
  blocks: z
    .array(z.record(z.string(), z.unknown()))
    .max(TEMPLATE_LIMITS.blocks)
    .refine(storableJson, refused)
    .refine((blocks) => JSON.stringify(blocks).length <= TEMPLATE_LIMITS.source, { message: "At most 1 MiB.", params: { code: "too_big" } })
    .nullable()
    .meta({ description: "Content of a template of kind BLOCKS, as MailBlocks, or of kind JSON_BLOCKS, as you like" }),
  renderedFrom: TemplateOrigin.nullable().meta({
    description: "Files that the HTML was rendered from, kept beside it; a change of html or text without them removes them",
  }),
  layout: Slug.nullable().meta({ description: "Slug of the layout around it" }),
  variables: z
    .array(VariableDeclaration)
    .max(TEMPLATE_LIMITS.variables)
    .refine(storableJson, refused)
    .superRefine((list, ctx) => {
      const seen = new Map<string, number>();
      list.forEach(({ name }, i) => {
        const first = seen.get(name);
        if (first === undefined) seen.set(name, i);
        else issue(ctx, [i, "name"], "duplicate", `Repeats variables[${first}].`);
      });
    })
    .meta({ description: "Declared variables: type, required, default, description" }),
  publish: z.boolean().meta({ description: "Publish it at once" }),
};

function storable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

function Line(max: number) {
  return z
    .string()
    .max(max)
    .refine(
      (s) => s.isWellFormed() && !/[\p{Cc}\u2028\u2029]/u.test(s),
      refuseCharacters("This holds no line breaks or control characters."),
    );
}

// Every text must be storable, at any depth.
function storableJson(value: unknown): boolean {
  return typeof value === "string"
    ? storable(value)
    : typeof value !== "object" || value === null || Object.entries(value).every(([key, inner]) => storable(key) && storableJson(inner));
}
