import { BLOCK_LIMITS, BLOCK_TYPES, explainAddress, explainVariables, listTextLinks } from "./block-text.ts";
import { refuseCharacters } from "./characters.ts";
import { issue } from "./send-fields.ts";
import * as z from "./zod.ts";

/** Alignments of a block; the start is the left side, or the right one in languages that are written from there. */
const BLOCK_ALIGNMENTS = ["start", "center", "end"] as const;

/** A text on one line, which may still be empty; with variables. */
function Words(max: number, place: "text" | "attribute" = "text") {
  return z
    .string()
    .max(max)
    .refine(
      (text) => text.isWellFormed() && !/[\p{Cc}\u2028\u2029]/u.test(text),
      refuseCharacters("This holds no line breaks or control characters."),
    )
    .superRefine((text, ctx) => refuse(ctx, "unsafe_variable", explainVariables(text, place)));
}

function Address(schemes: "link" | "image") {
  return Words(BLOCK_LIMITS.href, "attribute").superRefine((text, ctx) => {
    if (text !== "") refuse(ctx, "invalid_url", explainAddress(text, schemes));
  });
}

const Passages = z
  .string()
  .max(BLOCK_LIMITS.text)
  .refine(
    (text) => text.isWellFormed() && !/[^\P{Cc}\t\n\r]/u.test(text),
    refuseCharacters("This holds no control characters other than line breaks and tabs."),
  )
  .superRefine((text, ctx) => {
    refuse(ctx, "unsafe_variable", explainVariables(text));
    for (const href of listTextLinks(text)) {
      const reason = explainAddress(href) ?? explainVariables(href, "attribute");
      if (reason !== null) issue(ctx, [], "invalid_url", `The link to ${href.slice(0, 100)}: ${reason}`);
    }
  });

const align = z.enum(BLOCK_ALIGNMENTS).optional().meta({ description: "Side at which it stands; the start when absent" });
const href = Address("link").meta({ description: "Address: https://, http://, mailto: or a variable" });

const heading = z.strictObject({
  type: z.literal("heading"),
  text: Words(BLOCK_LIMITS.heading),
  level: z.int().min(1).max(3).optional().meta({ description: "1 is the largest; 2 when absent" }),
  align,
});

const text = z.strictObject({
  type: z.literal("text"),
  text: Passages.meta({
    description: "Paragraphs; **bold**, *italic*, [words](https://…), lines that begin with - or 1. are lists",
  }),
  size: z.enum(["normal", "small"]).optional(),
  align,
});

const image = z.strictObject({
  type: z.literal("image"),
  src: Address("image").meta({ description: "Address of the picture, such as the url of an asset" }),
  alt: Words(BLOCK_LIMITS.alt, "attribute").meta({ description: "Words in its place; empty for decoration" }),
  width: z.int().min(16).max(BLOCK_LIMITS.width).optional().meta({ description: "Width in pixels; as wide as its place when absent" }),
  href: href.optional(),
  align,
});

const button = z.strictObject({
  type: z.literal("button"),
  label: Words(BLOCK_LIMITS.label),
  href,
  color: z
    .string()
    .regex(/^#[0-9a-fA-F]{6}$/, "Write a color as #rrggbb.")
    .optional()
    .meta({ description: "Its color as #rrggbb; that of the brand when absent" }),
  align,
});

const divider = z.strictObject({ type: z.literal("divider") });
const spacer = z.strictObject({
  type: z.literal("spacer"),
  height: z.int().min(4).max(BLOCK_LIMITS.height).optional().meta({ description: "Pixels; 24 when absent" }),
});

/** A block that can stand in a column. */
export const ColumnBlock = z.discriminatedUnion("type", [heading, text, image, button, divider, spacer]).meta({ id: "ColumnBlock" });
export type ColumnBlock = z.infer<typeof ColumnBlock>;

const columns = z.strictObject({
  type: z.literal("columns"),
  columns: z
    .array(z.strictObject({ blocks: z.array(ColumnBlock).max(BLOCK_LIMITS.blocks) }))
    .min(2)
    .max(BLOCK_LIMITS.columns)
    .meta({ description: "Two or three columns of the same width; on phones one below the other" }),
});

/** A part of a mail that the server lays out (docs/blocks.md). */
export const MailBlock = z.discriminatedUnion("type", [ColumnBlock, columns]).meta({ id: "MailBlock" });
export type MailBlock = z.infer<typeof MailBlock>;

/** A mail in blocks: its content as an editor keeps it. */
export const MailBlocks = z
  .array(MailBlock)
  .max(BLOCK_LIMITS.blocks)
  .superRefine((blocks, ctx) => {
    const count = blocks.reduce(
      (sum, block) => sum + 1 + (block.type === "columns" ? block.columns.flatMap((one) => one.blocks).length : 0),
      0,
    );
    if (count > BLOCK_LIMITS.blocks) issue(ctx, [], "too_big", `At most ${BLOCK_LIMITS.blocks} blocks, with those in columns.`);
  })
  .meta({ description: `Content as blocks: ${BLOCK_TYPES.join(", ")}; the HTML is rendered from them` });
export type MailBlocks = z.infer<typeof MailBlocks>;

/** Finds what blocks still lack before they can be sent, with its path within them. */
export function findUnfinished(blocks: readonly MailBlock[], path = ""): { path: string; message: string }[] {
  return blocks.flatMap((block, i) => {
    const at = `${path}[${i}]`;
    if (block.type === "columns") return block.columns.flatMap((one, n) => findUnfinished(one.blocks, `${at}.columns[${n}].blocks`));
    if (block.type === "image" && block.src === "") return [{ path: `${at}.src`, message: "This picture is not chosen yet." }];
    if (block.type !== "button") return [];
    return [
      ...(block.label.trim() === "" ? [{ path: `${at}.label`, message: "This button has no words yet." }] : []),
      ...(block.href === "" ? [{ path: `${at}.href`, message: "This button has no link yet." }] : []),
    ];
  });
}

function refuse(ctx: z.RefinementCtx, code: string, reason: string | null): void {
  if (reason !== null) issue(ctx, [], code, reason);
}
