import { contract, type TemplateDetail } from "@mailsvc/sdk/contract";
import { CliError } from "../errors.ts";
import { EXIT } from "../exit.ts";
import { callOf } from "../request.ts";
import type { Session } from "../session.ts";
import { normal, type TemplateFiles } from "./folder.ts";

/** A template of the server: its draft, and what is needed to change it. */
export interface Stored {
  id: string;
  revision: number;
  hasUnpublishedChanges: boolean;
  files: TemplateFiles;
}

const AT_ONCE = 4;

/** All templates of the workspace with their drafts, or those named. */
export async function readStored(session: Session, only: readonly string[] = []): Promise<Map<string, Stored>> {
  const progress = session.progress("Reading the templates");
  const heads: { id: string; slug: string }[] = [];
  try {
    const seen = new Set<string>();
    for (let cursor: string | undefined; ; ) {
      const query = { limit: 100, ...(cursor === undefined ? {} : { cursor }) };
      const { data } = await session.send(callOf(contract.templates.list, [], query, undefined));
      const page = contract.templates.list.output.parse(data);
      heads.push(...page.data.filter(({ slug }) => only.length === 0 || only.includes(slug)));
      cursor = page.pagination.nextCursor ?? undefined;
      if (cursor === undefined) break;
      if (seen.has(cursor)) throw new CliError({ code: "list_loops", message: "The list leads back to where it was.", exit: EXIT.server });
      seen.add(cursor);
    }
    const found = new Map<string, Stored>();
    for (let i = 0; i < heads.length; i += AT_ONCE) {
      progress.say(`Reading the templates, ${i} of ${heads.length}`);
      const some = await Promise.all(
        heads.slice(i, i + AT_ONCE).map(async ({ id }) => {
          const { data } = await session.send(callOf(contract.templates.get, [id], {}, undefined));
          return data as TemplateDetail;
        }),
      );
      for (const detail of some) {
        const { html, text, subject, blocks, variables } = detail.source;
        const files = normal({ ...detail, html, text, subject, blocks, variables });
        found.set(detail.slug, { id: detail.id, revision: detail.revision, hasUnpublishedChanges: detail.hasUnpublishedChanges, files });
      }
    }
    return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
  } finally {
    progress.stop();
  }
}
