import type { MailBlocks, TemplateDetail } from "@mailsvc/sdk/contract";

/** Editable fields of a template. */
export type Draft = Pick<TemplateDetail, "name" | "slug" | "description" | "category" | "from" | "replyTo" | "layout"> &
  Pick<TemplateDetail["source"], "subject" | "html" | "text" | "variables"> & {
    /** Content of a template of kind BLOCKS; null for others. */
    readonly blocks: MailBlocks | null;
  };

/** A variable as the author declares it. */
export type Declaration = Draft["variables"][number];

/** A variable of a template: declared, or found in its texts. */
export type Variable = TemplateDetail["variables"][number];

/** The draft of a template as it is stored. */
export function toDraft({ name, slug, description, category, kind, from, replyTo, layout, source }: TemplateDetail): Draft {
  const { subject, text, variables } = source;
  // The HTML of blocks follows from them, and is never changed by itself.
  const content = kind === "BLOCKS" ? { html: null, blocks: source.blocks as MailBlocks | null } : { html: source.html, blocks: null };
  return { name, slug, description, category, from, replyTo, layout, subject, text, variables, ...content };
}

/** The fields of a draft that differ from those of another. */
export function listChanges(draft: Draft, before: Draft): Partial<Draft> {
  const names = Object.keys(draft) as (keyof Draft)[];
  return Object.fromEntries(
    names.filter((name) => JSON.stringify(draft[name]) !== JSON.stringify(before[name])).map((name) => [name, draft[name]]),
  );
}

/** Names the fields that differ between two drafts. */
export function nameChanges(draft: Draft, before: Draft): string[] {
  return Object.keys(listChanges(draft, before)).map((name) => nameField(name as keyof Draft));
}

/** Returns the label of a draft's field. */
export function nameField(name: keyof Draft): string {
  return WORDS[name];
}

const WORDS: Readonly<Record<keyof Draft, string>> = {
  name: "name",
  slug: "slug",
  description: "description",
  category: "category",
  from: "sender",
  replyTo: "Reply-To",
  layout: "layout",
  subject: "subject",
  html: "HTML",
  text: "text",
  blocks: "blocks",
  variables: "variables",
};
