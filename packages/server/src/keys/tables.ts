import type { Permission } from "@mailsvc/sdk/contract";
import type { ColumnTypes } from "../db/columns.ts";

export function keyTables(c: ColumnTypes) {
  return {
    keys: c.table(
      "keys",
      {
        id: c.text("id").primaryKey(),
        workspaceId: c.text("workspace_id").notNull(),
        name: c.text("name").notNull(),
        permissions: c.json<Permission[]>("permissions").notNull(),
        owner: c.flag("owner").notNull(),
        /** True for a test key: its mail is captured instead of sent. */
        test: c.flag("test").notNull(),
        /** SHA-256 of the key, hex. 256 random bits need no slow hash. */
        hash: c.text("hash").notNull(),
        preview: c.text("preview").notNull(),
        createdAt: c.instant("created_at").notNull(),
        revokedAt: c.instant("revoked_at"),
        /** Written about once a minute. */
        lastUsedAt: c.instant("last_used_at"),
        expiresAt: c.instant("expires_at"),
        /** Addresses and domains that it may send from; null for all. */
        senders: c.json<string[]>("senders"),
        /** Networks that it may be used from, as CIDR; null for all. */
        networks: c.json<string[]>("networks"),
      },
      (t) => [c.uniqueIndex("keys_hash").on(t.hash), c.index("keys_workspace").on(t.workspaceId, t.id)],
    ),
  };
}

export type KeyTables = ReturnType<typeof keyTables>;

declare module "../lib/ids.ts" {
  interface IdPrefixes {
    readonly key: "keys";
  }
}
