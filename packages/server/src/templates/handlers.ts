import type { contract } from "@mailsvc/sdk/contract";
import { type Accepted, acceptTemplate, acceptTest, sendAccepted } from "../emails/transactional.ts";
import type { Handlers } from "../http/handler.ts";
import { loadParser, type Parse } from "./engine/parser.ts";
import { detailFor, getBySlug, preview, renderSources, resolveVersion } from "./sendable.ts";
import { DRAFT } from "./store.ts";
import {
  createTemplate,
  deleteTemplate,
  findTemplate,
  findVersion,
  listTemplates,
  listVersions,
  publishDraft,
  rollBack,
  setStatus,
  updateDraft,
} from "./templates.ts";

export const templateHandlers: Handlers<typeof contract.templates> = {
  list: (input, { read, workspaceId }) => listTemplates(read, workspaceId, input),
  create: { prepare, run: (input, { tx, deps, workspaceId }, parse: Parse) => createTemplate(tx, deps, workspaceId, input, parse) },
  get: async ({ id, version }, { read, workspaceId }) => {
    const row = await findTemplate(read, workspaceId, id);
    return detailFor(read, row, await findVersion(read, row, version ?? DRAFT));
  },
  update: { prepare, run: (input, { tx, deps, workspaceId }, parse: Parse) => updateDraft(tx, deps, workspaceId, input, parse) },
  delete: ({ id }, { tx, workspaceId }) => deleteTemplate(tx, workspaceId, id),
  publish: { prepare, run: (input, { tx, deps, workspaceId }, parse: Parse) => publishDraft(tx, deps, workspaceId, input, parse) },
  versions: (input, { read, workspaceId }) => listVersions(read, workspaceId, input),
  rollback: { prepare, run: (input, { tx, deps, workspaceId }, parse: Parse) => rollBack(tx, deps, workspaceId, input, parse) },
  archive: ({ id }, { tx, deps, workspaceId }) => setStatus(tx, deps, workspaceId, id, "INACTIVE"),
  unarchive: ({ id }, { tx, deps, workspaceId }) => setStatus(tx, deps, workspaceId, id, "ACTIVE"),
  // Rendering writes nothing, so it is done before the transaction, which then only keeps the answer.
  preview: {
    prepare: async ({ id, version, variables }, { read, workspaceId }) => {
      const row = await findTemplate(read, workspaceId, id);
      const { compiled } = await resolveVersion(read, row, await findVersion(read, row, version ?? DRAFT));
      return preview(compiled, variables ?? {});
    },
    run: async (_input, _context, rendered: ReturnType<typeof preview>) => rendered,
  },
  render: {
    prepare: (input, { read, workspaceId }) => renderSources(read, workspaceId, input),
    run: async (_input, _context, rendered: Awaited<ReturnType<typeof renderSources>>) => rendered,
  },
  test: {
    prepare: ({ id, version, ...input }, { read, workspaceId }) =>
      acceptTest(input, async () => {
        const row = await findTemplate(read, workspaceId, id);
        return resolveVersion(read, row, await findVersion(read, row, version ?? DRAFT));
      }),
    run: (_input, { tx, deps, workspaceId }, accepted: Accepted) => sendAccepted(accepted, tx, deps, workspaceId),
  },
  listTransactional: (input, { read, workspaceId }) => listTemplates(read, workspaceId, { ...input, type: "transactional" }),
  getBySlug: ({ slug }, { read, workspaceId }) => getBySlug(read, workspaceId, slug),
  send: {
    prepare: ({ slug, ...input }, { read, workspaceId }) => acceptTemplate(read, workspaceId, slug, input),
    run: (_input, { tx, deps, workspaceId }, accepted: Accepted) => sendAccepted(accepted, tx, deps, workspaceId),
  },
};

// Loaded before the transaction begins: within it, only its queries are awaited.
function prepare(): Promise<Parse> {
  return loadParser();
}
