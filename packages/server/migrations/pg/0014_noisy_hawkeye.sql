DROP INDEX "emails_status";--> statement-breakpoint
DROP INDEX "emails_to";--> statement-breakpoint
ALTER TABLE "emails" ADD COLUMN "unlisted" boolean;--> statement-breakpoint
CREATE INDEX "emails_unlisted" ON "emails" USING btree ("workspace_id","unlisted","id","to_key") WHERE "emails"."unlisted" is not null;--> statement-breakpoint
CREATE INDEX "emails_status" ON "emails" USING btree ("workspace_id","status","id") WHERE "emails"."unlisted" is null;--> statement-breakpoint
CREATE INDEX "emails_to" ON "emails" USING btree ("workspace_id","to_key","id") WHERE "emails"."unlisted" is null;