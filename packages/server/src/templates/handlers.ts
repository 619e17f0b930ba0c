import { type contract, MailBlocks, type TemplateDetail } from "@mailsvc/sdk/contract";
import * as z from "zod";
import type { Handlers, PublicContext } from "../http/handler.ts";
import { failBlocks } from "./blocks.ts";
import { listUsers } from "./dependents.ts";
import type { TemplateDeps } from "./deps.ts";
import { loadParser, type Parse } from "./engine/parser.ts";
import { getBySlug, getDetail, preview, renderSources, resolveVersion } from "./sending.ts";
import { DRAFT } from "./store.ts";
import {
  createTemplate,
  deleteTemplate,
  getTemplateRow,
  getVersionRow,
  listTemplates,
  listVersions,
  publishDraft,
  rollBack,
  setStatus,
  updateDraft,
} from "./templates.ts";

/** The handlers of templates, except those that send: emails import templates, so templates cannot import emails. */
export const templateHandlers: Omit<Handlers<typeof contract.templates, TemplateDeps>, "send" | "test"> = {
  list: (input, { read, workspaceId }) => listTemplates(read, workspaceId, input),
  create: {
    prepare: (input, { check }) => {
      if (input.kind === "BLOCKS") assertBlocks(check, input);
      return loadParser();
    },
    run: (input, { tx, deps, workspaceId }, parse: Parse) => createTemplate(tx, deps, workspaceId, input, parse),
  },
  get: async ({ id, version }, { read, deps, workspaceId, key }) => {
    const row = await getTemplateRow(read, workspaceId, id);
    return getDetail(read, deps, row, await getVersionRow(read, row, version ?? DRAFT), key);
  },
  update: {
    // Its users are many rows: read in the transaction, other writers would wait for them.
    prepare: async (input, { read, deps, workspaceId, key, check }) => {
      const row = await getTemplateRow(read, workspaceId, input.id);
      if (row.kind === "BLOCKS") assertBlocks(check, input);
      return { parse: await loadParser(), usedBy: await listUsers(read, deps, row, key) };
    },
    run: (input, { tx, deps, workspaceId }, prepared: Pick<TemplateDetail, "usedBy"> & { parse: Parse }) =>
      updateDraft(tx, deps, workspaceId, input, prepared),
  },
  delete: ({ id }, { tx, workspaceId }) => deleteTemplate(tx, workspaceId, id),
  publish: { prepare, run: (input, { tx, deps, workspaceId }, parse: Parse) => publishDraft(tx, deps, workspaceId, input, parse) },
  versions: (input, { read, workspaceId }) => listVersions(read, workspaceId, input),
  rollback: { prepare, run: (input, { tx, deps, workspaceId }, parse: Parse) => rollBack(tx, deps, workspaceId, input, parse) },
  archive: ({ id }, { tx, deps, workspaceId }) => setStatus(tx, deps, workspaceId, id, "INACTIVE"),
  unarchive: ({ id }, { tx, deps, workspaceId }) => setStatus(tx, deps, workspaceId, id, "ACTIVE"),
  // Rendering writes nothing, so it runs before the transaction, which only stores the response.
  preview: {
    prepare: async ({ id, version, variables }, { read, deps, workspaceId }) => {
      const row = await getTemplateRow(read, workspaceId, id);
      const { compiled } = await resolveVersion(read, deps.compiledTemplates, row, await getVersionRow(read, row, version ?? DRAFT));
      return preview(compiled, variables ?? {});
    },
    run: async (_input, _context, rendered: ReturnType<typeof preview>) => rendered,
  },
  render: {
    prepare: (input, { read, workspaceId, check }) => {
      assertBlocks(check, input);
      return renderSources(read, workspaceId, input);
    },
    run: async (_input, _context, rendered: Awaited<ReturnType<typeof renderSources>>) => rendered,
  },
  listTransactional: (input, { read, workspaceId }) => listTemplates(read, workspaceId, { ...input, type: "transactional" }),
  getBySlug: ({ slug }, { read, deps, workspaceId }) => getBySlug(read, deps.compiledTemplates, workspaceId, slug),
};

/** Throws ApiError validation_error that names the block and the field, for blocks that are not those of the service. */
function assertBlocks(check: PublicContext<unknown>["check"], { blocks }: { blocks?: unknown }): void {
  const checked = check(z.object({ blocks: MailBlocks.nullish() }), { blocks });
  if ("details" in checked) throw failBlocks(checked.details);
}

// Loaded before the transaction begins: inside it, only queries may be awaited.
function prepare(): Promise<Parse> {
  return loadParser();
}
