import type { Kit } from "../db/postgres/columns.ts";

export function httpTables(k: Kit) {
  return {
    /** Answers given under an Idempotency-Key, written in the transaction of their effect. */
    idempotency: k.table(
      "idempotency",
      {
        keyId: k.text("key_id").notNull(),
        route: k.text("route").notNull(),
        idempotencyKey: k.text("idempotency_key").notNull(),
        /** SHA-256 of path parameters and body: the same key with another request is refused. */
        requestHash: k.text("request_hash").notNull(),
        status: k.int("status").notNull(),
        answer: k.text("answer").notNull(),
        createdAt: k.instant("created_at").notNull(),
      },
      (t) => [k.primaryKey({ columns: [t.keyId, t.route, t.idempotencyKey] }), k.index("idempotency_age").on(t.createdAt)],
    ),
  };
}
