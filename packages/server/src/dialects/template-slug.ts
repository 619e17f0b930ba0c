import { notFound } from "../lib/api-error.ts";
import { findTemplateById } from "../templates/templates.ts";
import type { Reads } from "./operation.ts";

/**
 * Returns the slug of a template by slug or id. Needs no permission of its own, because a key that may send may send every template.
 * Throws ApiError not_found.
 */
export async function getSlug(named: string, { rows, workspaceId }: Reads): Promise<string> {
  if (!named.startsWith("tpl_")) return named;
  const row = await findTemplateById(rows, workspaceId, named);
  if (row === null) throw notFound("template", named);
  return row.slug;
}
