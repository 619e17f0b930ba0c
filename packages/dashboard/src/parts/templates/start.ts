import type { MailBlocks, Template } from "@mailsvc/sdk/contract";

// The contract's own list would bring its schemas with it. The type checker compares the two.
const KINDS: Readonly<Record<Template["type"], true>> = { transactional: true, marketing: true, layout: true, partial: true };

export const TEMPLATE_KINDS = Object.keys(KINDS);

const frame = (content: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Mail</title>
  </head>
  <body style="margin: 0; padding: 24px; font-family: Arial, sans-serif; font-size: 16px; line-height: 1.5">
${content}
  </body>
</html>
`;

const HELLO = `    <p>Hello {{default name "there"}},</p>
    <p>Write your mail here.</p>`;

const UNSUBSCRIBE = `    <p style="font-size: 13px"><a href="{{unsubscribeUrl}}">Unsubscribe</a></p>`;

const BLOCKS: MailBlocks = [
  { type: "heading", text: 'Hello {{default firstName "there"}}' },
  { type: "text", text: "Write your mail here." },
];

interface Start {
  readonly html?: string;
  readonly subject?: string;
  readonly kind?: Template["kind"];
  readonly blocks?: MailBlocks;
}

/** Returns the initial content of a new template: HTML, or blocks where they can be. */
export function buildStart(type: Template["type"], inBlocks: boolean): Start {
  if (type === "partial") return { html: "<p>Acme Ltd, 1 Main Street</p>\n" };
  if (type === "layout") return { html: frame("    {{{body}}}") };
  if (inBlocks) return { kind: "BLOCKS", subject: "Hello", blocks: BLOCKS };
  return { subject: "Hello", html: frame(type === "marketing" ? `${HELLO}\n${UNSUBSCRIBE}` : HELLO) };
}
