/** The slug of an agent by the name of its package or folder; empty when no letter or digit is in it. */
export function toSlug(name: string): string {
  return name
    .replace(/^@[^/]*\//, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+/, "")
    .slice(0, 64)
    .replace(/-+$/, "");
}
