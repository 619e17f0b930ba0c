import type { TemplateFiles } from "./folder.ts";

/** The fields that a template's files and the server have in common. */
export const COMPARED_FIELDS = [
  "name",
  "description",
  "category",
  "type",
  "kind",
  "subject",
  "from",
  "replyTo",
  "layout",
  "variables",
  "html",
  "text",
  "blocks",
  "renderedFrom",
] as const satisfies readonly (keyof TemplateFiles)[];

/** The slugs of a template's layout and partials. */
export function listDependencies({ html, text, layout }: Pick<TemplateFiles, "html" | "text" | "layout">): string[] {
  const slugs = new Set<string>(layout === null ? [] : [layout]);
  for (const source of [html, text])
    for (const [, slug] of (source ?? "").matchAll(/\{\{~?>\s*"?([a-z0-9_-]+)/g)) slugs.add(slug as string);
  return [...slugs];
}

/** Sorts slugs so that each comes after those it depends on. */
export function sortByDependency(local: ReadonlyMap<string, TemplateFiles>): string[] {
  const done = new Set<string>();
  const visit = (slug: string, trail: ReadonlySet<string>): void => {
    const template = local.get(slug);
    // Dependencies in a circle have no such order; the server reports them.
    if (!template || done.has(slug) || trail.has(slug)) return;
    for (const used of listDependencies(template)) visit(used, new Set([...trail, slug]));
    done.add(slug);
  };
  for (const slug of local.keys()) visit(slug, new Set());
  return [...done];
}
