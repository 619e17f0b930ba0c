import type { Template } from "@mailsvc/sdk/contract";
import type { Kit } from "../db/postgres/columns.ts";
import type { Declared } from "./engine/variables.ts";

export type Blocks = Record<string, unknown>[];

export function templateTables(k: Kit) {
  return {
    /** A template without its content: what lists show, and what a send needs to know to find the content. */
    templates: k.table(
      "templates",
      {
        id: k.text("id").primaryKey(),
        workspaceId: k.text("workspace_id").notNull(),
        slug: k.text("slug").notNull(),
        name: k.text("name").notNull(),
        description: k.text("description"),
        category: k.text("category"),
        type: k.text("type").$type<Template["type"]>().notNull(),
        kind: k.text("kind").$type<Template["kind"]>().notNull(),
        status: k.text("status").$type<Template["status"]>().notNull(),
        revision: k.int("revision").notNull(),
        /** The published version, the hash of its content, and the slugs it uses; none before the first. */
        version: k.int("version"),
        publishedHash: k.text("published_hash"),
        publishedUses: k.json<string[]>("published_uses"),
        draftHash: k.text("draft_hash").notNull(),
        draftUses: k.json<string[]>("draft_uses").notNull(),
        createdAt: k.instant("created_at").notNull(),
        updatedAt: k.instant("updated_at").notNull(),
        publishedAt: k.instant("published_at"),
      },
      (t) => [
        k.uniqueIndex("templates_slug").on(t.workspaceId, t.slug),
        k.index("templates_workspace").on(t.workspaceId, t.id),
        k.index("templates_category").on(t.workspaceId, t.category, t.id),
      ],
    ),
    /** The content of a template: version 0 is the draft, the others never change. */
    templateVersions: k.table(
      "template_versions",
      {
        templateId: k.text("template_id").notNull(),
        version: k.int("version").notNull(),
        id: k.text("id").notNull(),
        subject: k.text("subject"),
        from: k.text("from_text"),
        replyTo: k.text("reply_to"),
        html: k.text("html"),
        text: k.text("text_body"),
        blocks: k.json<Blocks>("blocks"),
        layout: k.text("layout"),
        variables: k.json<Declared[]>("variables").notNull(),
        hash: k.text("hash").notNull(),
        restoredFrom: k.int("restored_from"),
        createdAt: k.instant("created_at").notNull(),
      },
      (t) => [k.primaryKey({ columns: [t.templateId, t.version] })],
    ),
  };
}
