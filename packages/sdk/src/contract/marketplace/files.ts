import { refuseCharacters } from "../characters.ts";
import { endpoint } from "../endpoint.ts";
import { limits } from "../limits.ts";
import { Instant, pageQuery, pageSchema } from "../page.ts";
import * as z from "../zod.ts";
import { AGENT_BASE } from "./agent-base.ts";
import { RunId } from "./runs.ts";
import { line, prose } from "./text.ts";

const MB = 1024 * 1024;

export const FILE_LIMITS = limits("assets", "Files", {
  asset: [5 * MB, "an image", "bytes"],
  assetPixels: [40_000_000, "pixels of an image, width times height"],
  leadMagnet: [25 * MB, "a lead magnet", "bytes"],
  activationBytes: [500 * MB, "all files of an activation", "bytes"],
  workspaceBytes: [2048 * MB, "all files of a workspace", "bytes"],
  activationFiles: [1000, "files of an activation"],
  linkHours: [1, "how long a download link works", "hours"],
});

export const ASSET_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;

export const LEAD_MAGNET_TYPES = [
  "application/pdf",
  "application/epub+zip",
  "application/zip",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  "image/png",
  "image/jpeg",
  "audio/mpeg",
  "video/mp4",
] as const;

/** An image of the asset library. */
export const Asset = z
  .object({
    id: z.string(),
    /** Its public address. */
    url: z.string(),
    fileName: z.string(),
    contentType: z.enum(ASSET_TYPES),
    size: z.int(),
    width: z.int(),
    height: z.int(),
    sha256: z.string(),
    alt: z.string().nullable(),
    tags: z.array(z.string()),
    externalId: z.string().nullable(),
    createdAt: Instant,
  })
  .meta({ id: "Asset" });
export type Asset = z.infer<typeof Asset>;

/** A file offered for signing up. */
export const LeadMagnet = z
  .object({
    id: z.string(),
    title: z.string(),
    description: z.string().nullable(),
    fileName: z.string(),
    contentType: z.enum(LEAD_MAGNET_TYPES),
    size: z.int(),
    sha256: z.string(),
    /** A link that works for one hour. */
    downloadUrl: z.string(),
    createdAt: Instant,
  })
  .meta({ id: "LeadMagnet" });
export type LeadMagnet = z.infer<typeof LeadMagnet>;

const fileName = z
  .string()
  .min(1)
  .max(255)
  .refine((name) => name.isWellFormed() && !/\p{Cc}/u.test(name), refuseCharacters("A file name cannot contain control characters."))
  .meta({ description: "Name of the file; folders in it are removed" });

const contentBase64 = z.string().min(1).meta({ description: "The file in base64" });

const contentType = z.string().max(200).optional().meta({ description: "Media type of the file; must match its content" });

/** A PNG of one pixel, for examples. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const alt = line(300).nullable().meta({ description: "Alternative text for the image" });

const assetFields = z.strictObject({
  fileName,
  contentBase64,
  contentType,
  alt: alt.optional(),
  tags: z.array(line(60)).max(10).optional().meta({ description: "Words to find it by, up to 10" }),
  externalId: line(128).nullable().optional().meta({ description: "Your own id for it" }),
});

const magnetTitle = line(200).meta({ description: "Title that visitors see, up to 200 characters" });
const magnetDescription = prose(2000).nullable().optional().meta({ description: "What it contains, up to 2,000 characters" });

const leadMagnetFields = z.strictObject({
  fileName,
  contentBase64,
  contentType,
  title: magnetTitle,
  description: magnetDescription,
  runId: RunId.optional().meta({ description: "The run that created it" }),
});

const ASSET_RULES =
  "PNG, JPEG, GIF or WebP of up to 5 MB and 40 million pixels; the type is detected from the content. Also accepts multipart/form-data with the file in `file`. The same image again returns the stored one, with 200; of the other fields only an `alt` is added, if it had none.";
const LEAD_MAGNET_RULES =
  "PDF, EPUB, ZIP, DOCX, PNG, JPEG, MP3 or MP4 of up to 25 MB; the type is detected from the content. Also accepts multipart/form-data with the file in `file`.";
const ASSET_FILE = { maxBytes: FILE_LIMITS.asset, types: ASSET_TYPES };
const LEAD_MAGNET_FILE = { maxBytes: FILE_LIMITS.leadMagnet, types: LEAD_MAGNET_TYPES };
const FILE_ERRORS = ["unsupported_file_type", "type_mismatch", "corrupt_file", "storage_quota_exceeded", "payload_too_large"] as const;

const read = { permission: "marketplace:read" } as const;
const write = { permission: "marketplace:write" } as const;
const brandWrite = { permission: "brand:write" } as const;
const activationId = "act_01jc3v2m9k8q4w6x0y5z7a1b2c";
const assetId = { id: "ast_01jc3v2m9k8q4w6x0y5z7a1b2c" };
const magnetId = { id: "lm_01jc3v2m9k8q4w6x0y5z7a1b2c" };

const newAsset = { summary: "A logo", body: { fileName: "logo.png", contentBase64: PIXEL, alt: "Our logo", tags: ["logo"] } };
const newMagnet = { summary: "A guide", body: { fileName: "guide.pdf", contentBase64: "JVBERi0xLjcKJSVFT0YK", title: "The spring guide" } };

/** Files, for their brand. */
export const assets = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/assets",
    access: read,
    summary: "List the images of the asset library, newest first",
    query: z.object(pageQuery),
    output: pageSchema(Asset),
    examples: [{ summary: "All" }],
  }),
  create: endpoint({
    method: "POST",
    path: "/api/v1/marketplace/assets",
    access: brandWrite,
    mailsTo: "nobody",
    summary: "Upload an image to the asset library",
    description: ASSET_RULES,
    body: assetFields,
    form: true,
    file: ASSET_FILE,
    status: [201, 200],
    output: Asset,
    errors: FILE_ERRORS,
    examples: [newAsset],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/assets/:id",
    access: read,
    summary: "Show one image of the asset library",
    output: Asset,
    errors: ["not_found"],
    examples: [{ summary: "By id", params: assetId }],
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/api/v1/marketplace/assets/:id",
    access: brandWrite,
    mailsTo: "nobody",
    summary: "Delete an image",
    description: "It no longer shows in pages and emails that use it.",
    output: Asset,
    errors: ["not_found"],
    examples: [{ summary: "By id", params: assetId }],
  }),
};

export const leadMagnets = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/lead-magnets",
    access: read,
    summary: "List lead magnets, newest first",
    query: z.object(pageQuery),
    output: pageSchema(LeadMagnet),
    examples: [{ summary: "All" }],
  }),
  create: endpoint({
    method: "POST",
    path: "/api/v1/marketplace/lead-magnets",
    access: write,
    mailsTo: "nobody",
    summary: "Upload a lead magnet",
    description: LEAD_MAGNET_RULES,
    body: leadMagnetFields.omit({ runId: true }),
    form: true,
    file: LEAD_MAGNET_FILE,
    status: 201,
    output: LeadMagnet,
    errors: FILE_ERRORS,
    examples: [newMagnet],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/lead-magnets/:id",
    access: read,
    summary: "Show one lead magnet, with a download link that works for one hour",
    output: LeadMagnet,
    errors: ["not_found"],
    examples: [{ summary: "By id", params: magnetId }],
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/api/v1/marketplace/lead-magnets/:id",
    access: write,
    mailsTo: "nobody",
    summary: "Delete a lead magnet",
    description: "Its download links stop working. Landing pages that offered it stay published without it.",
    output: LeadMagnet,
    errors: ["not_found"],
    examples: [{ summary: "By id", params: magnetId }],
  }),
};

/** Files, for an agent that uploads them. */
export const agentAssets = {
  create: endpoint({
    method: "POST",
    path: `${AGENT_BASE}/assets`,
    access: { scope: "assets:write" },
    summary: "Upload an image to the brand's asset library",
    description: ASSET_RULES,
    body: assetFields,
    form: true,
    file: ASSET_FILE,
    status: [201, 200],
    output: Asset,
    errors: ["not_found", ...FILE_ERRORS],
    examples: [{ ...newAsset, params: { activationId } }],
  }),
};

export const agentLeadMagnets = {
  create: endpoint({
    method: "POST",
    path: `${AGENT_BASE}/lead-magnets`,
    access: { scope: "lead_magnets:write" },
    summary: "Upload a lead magnet",
    description: LEAD_MAGNET_RULES,
    body: leadMagnetFields,
    form: true,
    file: LEAD_MAGNET_FILE,
    status: 201,
    output: LeadMagnet,
    errors: ["not_found", ...FILE_ERRORS],
    examples: [{ ...newMagnet, params: { activationId } }],
  }),
  update: endpoint({
    method: "PATCH",
    path: `${AGENT_BASE}/lead-magnets/:id`,
    access: { scope: "lead_magnets:write" },
    summary: "Update the title or description of a lead magnet this agent uploaded",
    body: z.strictObject({ title: magnetTitle.optional(), description: magnetDescription }),
    output: LeadMagnet,
    errors: ["not_found"],
    examples: [{ summary: "Another title", params: { activationId, ...magnetId }, body: { title: "The summer guide" } }],
  }),
};
