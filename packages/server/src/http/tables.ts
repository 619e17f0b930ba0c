import type { ColumnTypes } from "../db/columns.ts";

export function httpTables(c: ColumnTypes) {
  return {
    /** Answers stored for an Idempotency-Key, written in the transaction of their effect. */
    idempotency: c.table(
      "idempotency",
      {
        keyId: c.text("key_id").notNull(),
        route: c.text("route").notNull(),
        idempotencyKey: c.text("idempotency_key").notNull(),
        /** SHA-256 of path parameters and body: the key is refused for a different request. */
        requestHash: c.text("request_hash").notNull(),
        status: c.int("status").notNull(),
        answer: c.text("answer").notNull(),
        createdAt: c.instant("created_at").notNull(),
      },
      (t) => [c.primaryKey({ columns: [t.keyId, t.route, t.idempotencyKey] }), c.index("idempotency_age").on(t.createdAt)],
    ),
  };
}
