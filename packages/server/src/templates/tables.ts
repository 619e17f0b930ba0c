import type { ProposedBy, Template, TemplateOrigin } from "@mailsvc/sdk/contract";
import type { ColumnTypes } from "../db/columns.ts";
import type { Declared } from "./engine/variables.ts";

type Blocks = Record<string, unknown>[];

export function templateTables(c: ColumnTypes) {
  return {
    /** A template without its content. */
    templates: c.table(
      "templates",
      {
        id: c.text("id").primaryKey(),
        workspaceId: c.text("workspace_id").notNull(),
        slug: c.text("slug").notNull(),
        name: c.text("name").notNull(),
        description: c.text("description"),
        category: c.text("category"),
        type: c.text("type").$type<Template["type"]>().notNull(),
        kind: c.text("kind").$type<Template["kind"]>().notNull(),
        status: c.text("status").$type<Template["status"]>().notNull(),
        revision: c.int("revision").notNull(),
        /** The published version, the hash of its content and the slugs it uses; null before the first one. */
        version: c.int("version"),
        publishedHash: c.text("published_hash"),
        publishedUses: c.json<string[]>("published_uses"),
        draftHash: c.text("draft_hash").notNull(),
        draftUses: c.json<string[]>("draft_uses").notNull(),
        proposedBy: c.json<ProposedBy>("proposed_by"),
        createdAt: c.instant("created_at").notNull(),
        updatedAt: c.instant("updated_at").notNull(),
        publishedAt: c.instant("published_at"),
      },
      (t) => [
        c.uniqueIndex("templates_slug").on(t.workspaceId, t.slug),
        c.index("templates_workspace").on(t.workspaceId, t.id),
        c.index("templates_category").on(t.workspaceId, t.category, t.id),
      ],
    ),
    /** The content of a template. Version 0 is the draft; the others never change. */
    templateVersions: c.table(
      "template_versions",
      {
        templateId: c.text("template_id").notNull(),
        version: c.int("version").notNull(),
        id: c.text("id").notNull(),
        subject: c.text("subject"),
        from: c.text("from_text"),
        replyTo: c.json<string | string[]>("reply_to"),
        html: c.text("html"),
        text: c.text("text_body"),
        blocks: c.json<Blocks>("blocks"),
        /** Source from which the HTML was rendered before it was stored. Never run here. */
        renderedFrom: c.json<TemplateOrigin>("rendered_from"),
        layout: c.text("layout"),
        variables: c.json<Declared[]>("variables").notNull(),
        hash: c.text("hash").notNull(),
        restoredFrom: c.int("restored_from"),
        createdAt: c.instant("created_at").notNull(),
      },
      (t) => [c.primaryKey({ columns: [t.templateId, t.version] })],
    ),
  };
}

export type TemplateTables = ReturnType<typeof templateTables>;

declare module "../lib/ids.ts" {
  interface IdPrefixes {
    readonly tpl: "templates";
    readonly tver: "templateVersions";
  }
}
