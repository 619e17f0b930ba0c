import { type ErrorDetail, findUnfinished, type MailBlock } from "@mailsvc/sdk/contract";
import type { Reader, Tx } from "../db/db.ts";
import { listVariableFields, renderBlocks } from "../html/blocks/render.ts";
import { ApiError } from "../lib/api-error.ts";
import { getPageBrand } from "../workspaces/workspaces.ts";
import { compileSet, TemplateFaults } from "./engine/engine.ts";
import type { Parse } from "./engine/parser.ts";

const MAX_DETAILS = 20;

/**
 * The HTML of a mail in blocks, in the colors and fonts that the brand has now; null for no blocks. `at` is their path in the request. Throws ApiError validation_error that
 * names the block and the field whose variables are wrong.
 */
export async function renderMailBlocks(
  q: Tx | Reader,
  parse: Parse,
  workspaceId: string,
  blocks: readonly MailBlock[],
  at = "blocks",
): Promise<string | null> {
  if (blocks.length === 0) return null;
  const brand = await getPageBrand(q, workspaceId);
  const details: ErrorDetail[] = [];
  for (const { path, html } of listVariableFields(blocks, brand)) {
    const fault = findFault(parse, html);
    if (fault !== null) details.push({ path: `${at}${path}`, ...fault });
  }
  if (details.length > 0) throw failBlocks(details);
  return renderBlocks(blocks, brand);
}

/** Throws ApiError validation_error for blocks that a reader would miss something in, such as a button without a link. */
export function assertBlocksFinished(blocks: readonly MailBlock[], at = "blocks"): void {
  const details = findUnfinished(blocks).map(({ path, message }) => ({ path: `${at}${path}`, code: "required", message }));
  if (details.length > 0) throw failBlocks(details);
}

/** The error for faults in blocks. */
export function failBlocks(details: ErrorDetail[]): ApiError {
  const [first] = details;
  const message = details.length === 1 && first ? `${first.path}: ${first.message}` : `${details.length} fields of blocks are not valid.`;
  return new ApiError("validation_error", message, { details: details.slice(0, MAX_DETAILS) });
}

function findFault(parse: Parse, html: string): { code: string; message: string } | null {
  try {
    compileSet(parse, { slug: "", subject: null, html, text: null, variables: [], isLayout: false, layout: null, partials: new Map() });
    return null;
  } catch (error) {
    if (!(error instanceof TemplateFaults)) throw error;
    const [first] = error.faults;
    return { code: first?.code ?? "invalid", message: first?.message ?? error.message };
  }
}
