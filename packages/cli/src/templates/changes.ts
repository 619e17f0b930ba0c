import type { TemplateFiles } from "./folder.ts";
import type { StoredTemplate } from "./stored.ts";

/** One change that makes the server match the folder. */
export interface Change {
  slug: string;
  change: "create" | "update" | "delete" | "publish";
  /** Fields that differ. */
  fields: string[];
  local: TemplateFiles | null;
  stored: StoredTemplate | null;
}

const FIELDS = [
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
] as const satisfies readonly (keyof TemplateFiles)[];

/** The fields in which two templates differ. */
export function diffFields(a: TemplateFiles, b: TemplateFiles): string[] {
  return FIELDS.filter((field) => JSON.stringify(a[field]) !== JSON.stringify(b[field]));
}

/** The slugs of a template's layout and partials. */
export function listDependencies({ html, text, layout }: Pick<TemplateFiles, "html" | "text" | "layout">): string[] {
  const slugs = new Set<string>(layout === null ? [] : [layout]);
  for (const source of [html, text])
    for (const [, slug] of (source ?? "").matchAll(/\{\{~?>\s*"?([a-z0-9_-]+)/g)) slugs.add(slug as string);
  return [...slugs];
}

export interface ChangeOptions {
  /** Delete templates that are no longer in the folder. */
  prune?: boolean;
  /** Publish unpublished changes. */
  publish?: boolean;
}

/** Compares a folder with the server and returns the changes in the order to apply them. */
export function planChanges(
  local: ReadonlyMap<string, TemplateFiles>,
  stored: ReadonlyMap<string, StoredTemplate>,
  { prune = false, publish = false }: ChangeOptions = {},
): Change[] {
  const changes: Change[] = [];
  for (const slug of sortByDependency(local)) {
    const mine = local.get(slug) as TemplateFiles;
    const theirs = stored.get(slug) ?? null;
    const fields = theirs ? diffFields(mine, theirs.files) : [];
    if (!theirs) changes.push({ slug, change: "create", fields: [], local: mine, stored: null });
    else if (fields.length > 0) changes.push({ slug, change: "update", fields, local: mine, stored: theirs });
    else if (publish && theirs.hasUnpublishedChanges) changes.push({ slug, change: "publish", fields, local: mine, stored: theirs });
  }
  if (!prune) return changes;
  const gone = [...stored.values()].filter((theirs) => !local.has(theirs.files.slug));
  // Delete layouts and partials last: the server refuses to delete them while a template uses them.
  const order = new Map(sortByDependency(new Map(gone.map((theirs) => [theirs.files.slug, theirs.files]))).map((slug, i) => [slug, i]));
  gone.sort((a, b) => (order.get(b.files.slug) ?? 0) - (order.get(a.files.slug) ?? 0));
  for (const theirs of gone) changes.push({ slug: theirs.files.slug, change: "delete", fields: [], local: null, stored: theirs });
  return changes;
}

/** Sorts slugs so that each comes after those it depends on. */
function sortByDependency(local: ReadonlyMap<string, TemplateFiles>): string[] {
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
