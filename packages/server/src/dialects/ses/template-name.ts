import { invalid } from "../../lib/api-error.ts";

/** The slug of a template by its name at AWS, such as my-template for MyTemplate_1. Throws ApiError for a name that leaves none. */
export function toSlug(name: string): string {
  const slug = name
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, "-")
    .replace(/[-_]*-[-_]*|_+/g, (run) => run[0] as string)
    .replace(/^[-_]+|[-_]+$/g, "");
  if (slug === "") throw invalid("TemplateName", "invalid_format", "TemplateName must have letters or digits.");
  return slug;
}

/** The name of a template: the one it was created with, as long as it leads to its slug. */
export function showName({ name, slug }: { readonly name: string; readonly slug: string }): string {
  return /^[\w-]{1,64}$/.test(name) && toSlug(name) === slug ? name : slug;
}
