ALTER TABLE "contents" ADD COLUMN "bypass_unsubscribe" boolean DEFAULT false NOT NULL;--> statement-breakpoint
-- Contacts that unsubscribed before unsubscribing wrote a suppression. The id of the contact gives the id of the suppression.
INSERT INTO "suppressions" ("id", "workspace_id", "email", "reason", "scope", "source", "created_at", "updated_at")
SELECT 'sup_' || substr("id", 5), "workspace_id", "email_key", 'unsubscribe', 'marketing', 'api', "updated_at", "updated_at"
FROM "contacts" AS "c"
WHERE "status" = 'UNSUBSCRIBED'
  AND NOT EXISTS (SELECT 1 FROM "suppressions" AS "s" WHERE "s"."workspace_id" = "c"."workspace_id" AND "s"."email" = "c"."email_key");
