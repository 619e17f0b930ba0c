import type { MailBlock } from "@mailsvc/sdk/contract";

type BlockType = MailBlock["type"];

interface Kind {
  /** Its name for people. */
  readonly name: string;
  /** Content of a new one. */
  readonly start: MailBlock;
}

/** The kinds of blocks, in the order in which they are offered. */
export const KINDS: Readonly<Record<BlockType, Kind>> = {
  heading: { name: "Heading", start: { type: "heading", text: "" } },
  text: { name: "Text", start: { type: "text", text: "" } },
  image: { name: "Picture", start: { type: "image", src: "", alt: "" } },
  button: { name: "Button", start: { type: "button", label: "", href: "" } },
  columns: { name: "Columns", start: { type: "columns", columns: [{ blocks: [] }, { blocks: [] }] } },
  divider: { name: "Divider", start: { type: "divider" } },
  spacer: { name: "Space", start: { type: "spacer" } },
};

export const BLOCK_KINDS = Object.keys(KINDS) as readonly BlockType[];

/** The name of a block with the beginning of what it says: `Heading “Spring is here”`. */
export function nameBlock(block: MailBlock): string {
  const words = describeBlock(block);
  return words === "" ? KINDS[block.type].name : `${KINDS[block.type].name} “${shorten(words)}”`;
}

/** The words of a block, on one line; empty for one that has none. */
export function describeBlock(block: MailBlock): string {
  switch (block.type) {
    case "heading":
      return block.text.trim();
    case "text":
      return block.text.replace(/\s+/g, " ").trim();
    case "image":
      return block.alt || block.src.split("/").at(-1) || "";
    case "button":
      return block.label.trim();
    default:
      return "";
  }
}

/** Names the first thing that a block lacks before it can be sent; empty if it lacks nothing. */
export function describeLack(block: MailBlock): string {
  if (block.type === "image") return block.src === "" ? "Choose a picture" : "";
  if (block.type !== "button") return "";
  return block.label.trim() === "" ? "Write its words" : block.href === "" ? "Give it a link" : "";
}

function shorten(words: string): string {
  return words.length > 40 ? `${words.slice(0, 39)}…` : words;
}
