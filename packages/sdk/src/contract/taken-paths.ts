import { TAKEN_PATHS } from "./taken-paths.generated.ts";

/**
 * The name of another endpoint that answers at a filled path of this one, because an argument is part of the other's path: with the slug
 * "batch", `templates.send` would be `emails.sendBatch`. Null if the path is this endpoint's own.
 */
export function findOtherAt({ method, path }: { readonly method: string; readonly path: string }, filled: string): string | null {
  const segments = filled.split("/");
  const isAt = (other: string): boolean => other.split("/").every((segment, i) => segment.startsWith(":") || segment === segments[i]);
  return Object.entries(TAKEN_PATHS[`${method} ${path}`] ?? {}).find(([other]) => isAt(other))?.[1] ?? null;
}
