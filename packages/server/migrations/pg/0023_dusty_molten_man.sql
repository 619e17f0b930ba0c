ALTER TABLE "automation_entries" ADD COLUMN "waits_for" text;--> statement-breakpoint
ALTER TABLE "automation_entries" ADD COLUMN "met" boolean;--> statement-breakpoint
ALTER TABLE "automation_entries" ADD COLUMN "event" json;--> statement-breakpoint
ALTER TABLE "automation_entries" ADD COLUMN "failures" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "automations" ADD COLUMN "next_date_at" bigint;--> statement-breakpoint
CREATE INDEX "automation_entries_due" ON "automation_entries" USING btree ("automation_id","due_at","id") WHERE status = 'ACTIVE';--> statement-breakpoint
CREATE INDEX "automation_entries_waiting" ON "automation_entries" USING btree ("contact_id","waits_for") WHERE "automation_entries"."waits_for" is not null;