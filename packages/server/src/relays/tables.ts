import type { ColumnTypes } from "../db/columns.ts";
import type { OpenSettings } from "./settings.ts";

export function relayTables(c: ColumnTypes) {
  return {
    /** Relays that were added by the API. */
    relays: c.table("relays", {
      name: c.text("name").primaryKey(),
      settings: c.json<OpenSettings>("settings").notNull(),
      /** Passwords, tokens and private keys: JSON, sealed. */
      secrets: c.bytes("secrets").notNull(),
      createdAt: c.instant("created_at").notNull(),
      updatedAt: c.instant("updated_at").notNull(),
    }),
    /** Refresh tokens that a token server gave in place of the one that a relay was set up with. */
    relayTokens: c.table("relay_tokens", {
      relay: c.text("relay").primaryKey(),
      /** The SHA-256 of the token in the settings, hex: another one there replaces this row. */
      basis: c.text("basis").notNull(),
      /** Sealed. */
      token: c.bytes("token").notNull(),
      updatedAt: c.instant("updated_at").notNull(),
    }),
  };
}
