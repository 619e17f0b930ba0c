import { contract, type TemplateDetail } from "@mailsvc/sdk/contract";
import type { Stored } from "../folders/folder.ts";
import { CliError } from "../runtime/errors.ts";
import { EXIT } from "../runtime/exit.ts";
import { buildCall } from "../runtime/request.ts";
import type { Session } from "../types.ts";
import { normalize, type TemplateFiles } from "./folder.ts";

/** A template on the server: its draft, and the id and revision needed to change it. */
type StoredTemplate = Stored<TemplateFiles>;

const CONCURRENCY = 4;

/** Reads the drafts of all templates of the workspace, or of the slugs in `only`. */
export async function readStoredTemplates(session: Session, only: readonly string[] = []): Promise<Map<string, StoredTemplate>> {
  const progress = session.progress("Reading the templates");
  const heads: { id: string; slug: string }[] = [];
  try {
    const seen = new Set<string>();
    for (let cursor: string | undefined; ; ) {
      const query = { limit: 100, ...(cursor === undefined ? {} : { cursor }) };
      const { data } = await session.send(buildCall(contract.templates.list, [], query, undefined));
      const page = contract.templates.list.output.parse(data);
      heads.push(...page.data.filter(({ slug }) => only.length === 0 || only.includes(slug)));
      cursor = page.pagination.nextCursor ?? undefined;
      if (cursor === undefined) break;
      if (seen.has(cursor)) throw new CliError({ code: "list_loops", message: "The list repeats its pages.", exit: EXIT.server });
      seen.add(cursor);
    }
    const found = new Map<string, StoredTemplate>();
    for (let i = 0; i < heads.length; i += CONCURRENCY) {
      progress.update(`Reading the templates, ${i} of ${heads.length}`);
      const some = await Promise.all(
        heads.slice(i, i + CONCURRENCY).map(async ({ id }) => {
          const { data } = await session.send(buildCall(contract.templates.get, [id], {}, undefined));
          return data as TemplateDetail;
        }),
      );
      for (const detail of some) {
        const { html, text, subject, blocks, variables } = detail.source;
        const files = normalize({ ...detail, html, text, subject, blocks, variables });
        found.set(detail.slug, { id: detail.id, revision: detail.revision, isUnreleased: detail.hasUnpublishedChanges, files });
      }
    }
    return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
  } finally {
    progress.stop();
  }
}
