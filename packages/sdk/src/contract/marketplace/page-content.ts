import { z } from "zod";
import { line, prose } from "./text.ts";

export const LANDING_PAGE_LIMITS = {
  /** Bytes of `html` in UTF-8. */
  html: 512 * 1024,
  blocks: 100,
  /** Pages of one workspace. */
  pages: 1000,
  /** How long a visitor's download link works. */
  downloadDays: 7,
} as const;

const encoder = new TextEncoder();

export const PageHtml = z
  .string()
  .max(LANDING_PAGE_LIMITS.html)
  .refine((html) => encoder.encode(html).length <= LANDING_PAGE_LIMITS.html, {
    message: "A page has at most 512 KiB of HTML.",
    params: { code: "too_big" },
  })
  .refine((html) => html.isWellFormed(), { message: "The HTML holds broken halves of characters.", params: { code: "invalid_characters" } })
  .meta({
    description:
      "What stands on the page. Scripts, styles in <style>, frames and anything else that acts are taken out; <form> marks where the sign-up form stands",
  });

const Href = z
  .string()
  .max(2048)
  .refine((text) => /^(?:https?:\/\/|mailto:|tel:)/i.test(text) && URL.canParse(text) && !/\p{Cc}/u.test(text), {
    message: "A link begins with https://, http://, mailto: or tel:.",
    params: { code: "invalid_url" },
    abort: true,
  })
  // A name before the host looks like a host: https://bank.example@elsewhere.example
  .refine((text) => new URL(text).username === "" && new URL(text).password === "", {
    message: "A link has nothing before an @.",
    params: { code: "invalid_url" },
  });

const assetId = z.string().max(40).meta({ description: "An image of the asset library" });

/** A part of a page that is laid out by us. */
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
  description: "The page in parts, laid out in the brand's look; instead of html",
});

/** What search engines and shared links show. */
export const PageSeo = z.strictObject({
  title: line(200).optional(),
  description: line(500).optional(),
  ogAssetId: assetId.optional(),
});
export type PageSeo = z.infer<typeof PageSeo>;

export const FORM_FIELDS = ["firstName", "lastName", "phone"] as const;
export type FormField = (typeof FORM_FIELDS)[number];

/** The sign-up form: always an address, and what else is asked. The words default to plain English ones. */
export const PageForm = z.strictObject({
  title: line(200).optional(),
  fields: z.array(z.enum(FORM_FIELDS)).max(FORM_FIELDS.length).optional().meta({ description: "Asked beside the email address" }),
  labels: z
    .strictObject({
      email: line(100).optional(),
      firstName: line(100).optional(),
      lastName: line(100).optional(),
      phone: line(100).optional(),
    })
    .optional(),
  button: line(60).optional().meta({ description: "What stands on the button" }),
  consentText: line(1000).optional().meta({ description: "What people agree to by sending the form; kept with each sign-up" }),
  consentCheckbox: z.boolean().optional().meta({ description: "People must tick a box beside the consent text" }),
  thanksTitle: line(200).optional(),
  thanksText: prose(2000).optional(),
});
export type PageForm = z.infer<typeof PageForm>;
