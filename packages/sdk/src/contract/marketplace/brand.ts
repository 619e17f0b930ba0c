import { endpoint } from "../endpoint.ts";
import { LanguageTag } from "../language.ts";
import { Instant } from "../page.ts";
import * as z from "../zod.ts";
import { BrandTexts, BrandTextsChange } from "./brand-texts.ts";
import { isPlainUrl, line, prose, reference } from "./text.ts";

const Color = z
  .string()
  .regex(/^#[0-9a-fA-F]{6}$/, "Write a color as #rrggbb.")
  .toLowerCase()
  .nullable();

export const BrandColors = z.strictObject({ primary: Color, secondary: Color, accent: Color, background: Color, text: Color });
export type BrandColors = z.infer<typeof BrandColors>;

export const BrandFonts = z.strictObject({ heading: line(100).nullable(), body: line(100).nullable() });
export type BrandFonts = z.infer<typeof BrandFonts>;

export const BrandVoice = z.strictObject({
  tone: z.array(line(60)).max(10),
  description: prose(2000),
  dos: z.array(line(300)).max(20),
  donts: z.array(line(300)).max(20),
});
export type BrandVoice = z.infer<typeof BrandVoice>;

/** A brand as an agent with brand:read sees it, without owner, billing or sender addresses. */
export const Brand = z
  .object({
    name: z.string(),
    website: z.string().nullable(),
    logo: z.object({ url: z.string(), width: z.int(), height: z.int() }).nullable(),
    colors: BrandColors,
    fonts: BrandFonts,
    voice: BrandVoice,
    /** Language and region; null while the brand has not chosen them. */
    locale: z.string().nullable(),
    timezone: z.string(),
    updatedAt: Instant,
  })
  .meta({ id: "Brand" });
export type Brand = z.infer<typeof Brand>;

/** A brand with its rules for agents. */
export const BrandSettings = Brand.extend({
  logoAssetId: z.string().nullable(),
  publishNeedsApproval: z.boolean(),
  /** Its own texts for recipients, by language. */
  texts: BrandTexts,
}).meta({ id: "BrandSettings" });
export type BrandSettings = z.infer<typeof BrandSettings>;

const website = z
  .url({ protocol: /^https?$/, error: "A website must start with https:// or http://." })
  .max(2048)
  .refine(isPlainUrl, { message: "A website cannot contain spaces or control characters.", params: { code: "invalid_format" } })
  .nullable();

const timezone = z
  .string()
  .max(64)
  .refine(
    (text) => {
      try {
        return new Intl.DateTimeFormat("en", { timeZone: text }).resolvedOptions().timeZone !== "";
      } catch {
        return false;
      }
    },
    { message: "Use a time zone such as Europe/Zurich.", params: { code: "invalid_timezone" } },
  );

export const brand = {
  get: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/brand",
    access: { permission: "brand:read" },
    summary: "Show the brand's colors, logo, voice and rules",
    output: BrandSettings,
    examples: [{ summary: "The brand" }],
  }),
  update: endpoint({
    method: "PATCH",
    path: "/api/v1/marketplace/brand",
    access: { permission: "brand:write" },
    mailsTo: "nobody",
    summary: "Update the brand's colors, logo, voice and rules",
    description:
      "Updates the given fields, also within colors, fonts and voice. Agents with brand:read see everything except the rules, so do not include personal data.",
    body: z.strictObject({
      name: line(200).optional().meta({ description: "Name of the brand, up to 200 characters" }),
      website: website.optional().meta({ description: "Address of the website" }),
      logoAssetId: reference.nullable().optional().meta({ description: "Id of an asset" }),
      colors: BrandColors.partial().optional().meta({ description: "Colors as #rrggbb: {primary, secondary, accent, background, text}" }),
      fonts: BrandFonts.partial().optional().meta({ description: "Names of fonts: {heading, body}" }),
      voice: BrandVoice.partial().optional().meta({ description: "How the brand speaks: {tone, description, dos, donts}" }),
      locale: LanguageTag.nullable()
        .optional()
        .meta({ description: "Language and region, such as en or de-CH; null leaves the language of pages to their readers" }),
      texts: BrandTextsChange.optional().meta({
        description:
          'Own texts for recipients, by language and name: {"de": {"unsubscribe": "Abbestellen"}}; null restores the one of this server (docs/languages.md)',
      }),
      timezone: timezone.optional().meta({ description: "Time zone, such as Europe/Zurich" }),
      publishNeedsApproval: z.boolean().optional().meta({ description: "Whether an agent may publish a page only after your approval" }),
    }),
    output: BrandSettings,
    errors: ["not_found"],
    examples: [{ summary: "Colors and voice", body: { colors: { primary: "#112233" }, voice: { tone: ["calm", "plain"] } } }],
  }),
};
