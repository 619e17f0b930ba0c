import { FORM_FIELDS, type FormField } from "../contact-fields.ts";
import { limits } from "../limits.ts";
import * as z from "../zod.ts";
import { line, prose } from "./text.ts";

export const LANDING_PAGE_LIMITS = limits("landingPages", "Landing pages", {
  html: [512 * 1024, "html", "bytes"],
  blocks: [100, "blocks"],
  pages: [1000, "pages of a workspace"],
  downloadDays: [7, "how long a visitor's download link works", "days"],
});

const encoder = new TextEncoder();

export const PageHtml = z
  .string()
  .max(LANDING_PAGE_LIMITS.html)
  .refine((html) => encoder.encode(html).length <= LANDING_PAGE_LIMITS.html, {
    message: "The HTML can have at most 512 KiB.",
    params: { code: "too_big" },
  })
  .refine((html) => html.isWellFormed(), {
    message: "The HTML contains lone surrogates, which are not valid Unicode.",
    params: { code: "invalid_characters" },
  })
  .meta({
    description:
      "The content of the page. Scripts, <style>, frames and other active content are removed; <form> marks the place of the sign-up form",
  });

const Href = z
  .string()
  .max(2048)
  .refine((text) => /^(?:https?:\/\/|mailto:|tel:)/i.test(text) && URL.canParse(text) && !/\p{Cc}/u.test(text), {
    message: "A link must start with https://, http://, mailto: or tel:.",
    params: { code: "invalid_url" },
    abort: true,
  })
  // A user name in a URL can look like its host: https://bank.example@elsewhere.example
  .refine((text) => new URL(text).username === "" && new URL(text).password === "", {
    message: "A link cannot contain a user name (the part before @).",
    params: { code: "invalid_url" },
  });

const assetId = z.string().max(40).meta({ description: "Id of an asset" });

/** A part of a page that the server lays out. */
export const PageBlock = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("heading"), text: line(300), level: z.int().min(1).max(3).default(2) }),
  z.strictObject({ type: z.literal("text"), text: prose(20_000) }),
  z.strictObject({ type: z.literal("image"), assetId, alt: line(300), caption: line(300).optional() }),
  z.strictObject({ type: z.literal("list"), items: z.array(line(1000)).min(1).max(50), ordered: z.boolean().default(false) }),
  z.strictObject({ type: z.literal("quote"), text: prose(2000), by: line(200).optional() }),
  z.strictObject({ type: z.literal("button"), label: line(100), href: Href }),
  z.strictObject({ type: z.literal("divider") }),
  z.strictObject({ type: z.literal("form") }),
]);
export type PageBlock = z.infer<typeof PageBlock>;

export const PageBlocks = z.array(PageBlock).min(1).max(LANDING_PAGE_LIMITS.blocks).meta({
  description: "The page as blocks in the brand's design; instead of html",
});

/** Title, description and image for search engines and link previews. */
export const PageSeo = z.strictObject({
  title: line(200).optional(),
  description: line(500).optional(),
  ogAssetId: assetId.optional(),
});
export type PageSeo = z.infer<typeof PageSeo>;

const labels = Object.fromEntries(FORM_FIELDS.map((field) => [field, line(100).optional()])) as Record<
  FormField,
  z.ZodOptional<ReturnType<typeof line>>
>;

/** The sign-up form. It always asks for an email address; texts default to the visitor's language. */
export const PageForm = z.strictObject({
  title: line(200).optional().meta({ description: "Heading of the form" }),
  fields: z.array(z.enum(FORM_FIELDS)).max(FORM_FIELDS.length).optional().meta({ description: "Fields besides the email address" }),
  labels: z
    .strictObject({
      email: line(100).optional(),
      ...labels,
    })
    .optional()
    .meta({ description: "Names of the fields, by field" }),
  button: line(60).optional().meta({ description: "Text of the button" }),
  consentText: line(1000).optional().meta({ description: "Text that visitors agree to by submitting the form; stored with each sign-up" }),
  consentCheckbox: z.boolean().optional().meta({ description: "Visitors must tick a box next to the consent text" }),
  thanksTitle: line(200).optional().meta({ description: "Heading of the page that follows" }),
  thanksText: prose(2000).optional().meta({ description: "Text of the page that follows" }),
});
export type PageForm = z.infer<typeof PageForm>;
