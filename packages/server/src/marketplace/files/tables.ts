import { isNull } from "drizzle-orm";
import type { ColumnTypes } from "../../db/columns.ts";

export function fileTables(c: ColumnTypes) {
  return {
    assets: c.table(
      "assets",
      {
        id: c.text("id").primaryKey(),
        workspaceId: c.text("workspace_id").notNull(),
        /** The agent that stored it; null for a person. */
        activationId: c.text("activation_id"),
        sha256: c.text("sha256").notNull(),
        fileName: c.text("file_name").notNull(),
        contentType: c.text("content_type").notNull(),
        size: c.int("size").notNull(),
        width: c.int("width").notNull(),
        height: c.int("height").notNull(),
        alt: c.text("alt"),
        tags: c.json<string[]>("tags").notNull(),
        externalId: c.text("external_id"),
        createdAt: c.instant("created_at").notNull(),
      },
      (t) => [
        c.uniqueIndex("assets_content").on(t.workspaceId, t.sha256),
        c.index("assets_workspace").on(t.workspaceId, t.id),
        c.index("assets_activation").on(t.activationId),
      ],
    ),
    leadMagnets: c.table(
      "lead_magnets",
      {
        id: c.text("id").primaryKey(),
        workspaceId: c.text("workspace_id").notNull(),
        activationId: c.text("activation_id"),
        runId: c.text("run_id"),
        sha256: c.text("sha256").notNull(),
        title: c.text("title").notNull(),
        description: c.text("description"),
        fileName: c.text("file_name").notNull(),
        contentType: c.text("content_type").notNull(),
        size: c.int("size").notNull(),
        createdAt: c.instant("created_at").notNull(),
      },
      (t) => [
        c.index("lead_magnets_workspace").on(t.workspaceId, t.id),
        c.index("lead_magnets_content").on(t.workspaceId, t.sha256),
        c.index("lead_magnets_activation").on(t.activationId),
      ],
    ),
    /** Contents of assets and lead magnets, stored once per workspace. The bytes are in parts, so that a range can be read alone. */
    fileContents: c.table(
      "file_contents",
      {
        id: c.text("id").primaryKey(),
        workspaceId: c.text("workspace_id").notNull(),
        sha256: c.text("sha256").notNull(),
        size: c.int("size").notNull(),
        /** The agent whose quota it takes while staged; null for a person, and once stored. */
        activationId: c.text("activation_id"),
        /** Time at which its latest part was written; null once it is stored. Until then no file refers to it. */
        stagedAt: c.instant("staged_at"),
      },
      (t) => [
        c.uniqueIndex("file_contents_kept").on(t.workspaceId, t.sha256).where(isNull(t.stagedAt)),
        c.index("file_contents_workspace").on(t.workspaceId),
      ],
    ),
    fileParts: c.table(
      "file_parts",
      {
        contentId: c.text("content_id").notNull(),
        part: c.int("part").notNull(),
        bytes: c.bytes("bytes").notNull(),
      },
      (t) => [c.primaryKey({ columns: [t.contentId, t.part] })],
    ),
  };
}

export type FileTables = ReturnType<typeof fileTables>;

declare module "../../lib/ids.ts" {
  interface IdPrefixes {
    readonly ast: "assets";
    readonly lm: "leadMagnets";
    readonly fc: "fileContents";
  }
}
