DROP INDEX "emails_status";--> statement-breakpoint
DROP INDEX "emails_to";--> statement-breakpoint
CREATE INDEX "emails_status" ON "emails" USING btree ("workspace_id","status","id","unlisted") WHERE "emails"."unlisted" is null;--> statement-breakpoint
CREATE INDEX "emails_to" ON "emails" USING btree ("workspace_id","to_key","id","unlisted") WHERE "emails"."unlisted" is null;