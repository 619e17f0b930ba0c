import { isNull } from "drizzle-orm";
import type { Kit } from "../../db/postgres/columns.ts";

export function fileTables(k: Kit) {
  return {
    assets: k.table(
      "assets",
      {
        id: k.text("id").primaryKey(),
        workspaceId: k.text("workspace_id").notNull(),
        /** The agent that saved it; null for a person. */
        activationId: k.text("activation_id"),
        sha256: k.text("sha256").notNull(),
        fileName: k.text("file_name").notNull(),
        contentType: k.text("content_type").notNull(),
        size: k.int("size").notNull(),
        width: k.int("width").notNull(),
        height: k.int("height").notNull(),
        alt: k.text("alt"),
        tags: k.json<string[]>("tags").notNull(),
        externalId: k.text("external_id"),
        createdAt: k.instant("created_at").notNull(),
      },
      (t) => [
        k.uniqueIndex("assets_content").on(t.workspaceId, t.sha256),
        k.index("assets_workspace").on(t.workspaceId, t.id),
        k.index("assets_activation").on(t.activationId),
      ],
    ),
    leadMagnets: k.table(
      "lead_magnets",
      {
        id: k.text("id").primaryKey(),
        workspaceId: k.text("workspace_id").notNull(),
        activationId: k.text("activation_id"),
        runId: k.text("run_id"),
        sha256: k.text("sha256").notNull(),
        title: k.text("title").notNull(),
        description: k.text("description"),
        fileName: k.text("file_name").notNull(),
        contentType: k.text("content_type").notNull(),
        size: k.int("size").notNull(),
        createdAt: k.instant("created_at").notNull(),
      },
      (t) => [
        k.index("lead_magnets_workspace").on(t.workspaceId, t.id),
        k.index("lead_magnets_content").on(t.workspaceId, t.sha256),
        k.index("lead_magnets_activation").on(t.activationId),
      ],
    ),
    /** Contents of assets and lead magnets, once per workspace; the bytes stand in parts, so that a piece can be read alone. */
    fileContents: k.table(
      "file_contents",
      {
        id: k.text("id").primaryKey(),
        workspaceId: k.text("workspace_id").notNull(),
        sha256: k.text("sha256").notNull(),
        size: k.int("size").notNull(),
        /** Whose room it takes while it is not kept yet; null for a person, and once it is kept. */
        activationId: k.text("activation_id"),
        /** When the last of its parts came; null once it is kept: until then nothing leads to it. */
        stagedAt: k.instant("staged_at"),
      },
      (t) => [
        k.uniqueIndex("file_contents_kept").on(t.workspaceId, t.sha256).where(isNull(t.stagedAt)),
        k.index("file_contents_workspace").on(t.workspaceId),
      ],
    ),
    fileParts: k.table(
      "file_parts",
      {
        contentId: k.text("content_id").notNull(),
        part: k.int("part").notNull(),
        bytes: k.bytes("bytes").notNull(),
      },
      (t) => [k.primaryKey({ columns: [t.contentId, t.part] })],
    ),
  };
}
