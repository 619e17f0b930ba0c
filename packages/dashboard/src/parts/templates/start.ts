import type { Template } from "@mailsvc/sdk/contract";

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

/** Returns the initial content of a new template. */
export function buildStart(type: Template["type"]): { readonly html: string; readonly subject?: string } {
  if (type === "partial") return { html: "<p>Acme Ltd, 1 Main Street</p>\n" };
  if (type === "layout") return { html: frame("    {{{body}}}") };
  return { subject: "Hello", html: frame(type === "marketing" ? `${HELLO}\n${UNSUBSCRIBE}` : HELLO) };
}
