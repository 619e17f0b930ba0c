import type { Permission } from "@mailsvc/sdk/contract";
import type { Kit } from "../db/postgres/columns.ts";

export function keyTables(k: Kit) {
  return {
    keys: k.table(
      "keys",
      {
        id: k.text("id").primaryKey(),
        workspaceId: k.text("workspace_id").notNull(),
        name: k.text("name").notNull(),
        permissions: k.json<Permission[]>("permissions").notNull(),
        owner: k.flag("owner").notNull(),
        /** SHA-256 of the key, hex. 256 random bits need no slow hash. */
        hash: k.text("hash").notNull(),
        preview: k.text("preview").notNull(),
        createdAt: k.instant("created_at").notNull(),
        revokedAt: k.instant("revoked_at"),
      },
      (t) => [k.uniqueIndex("keys_hash").on(t.hash), k.index("keys_workspace").on(t.workspaceId, t.id)],
    ),
  };
}
