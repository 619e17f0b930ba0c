ALTER TABLE "automation_entries" ADD COLUMN "waiting_in" text;--> statement-breakpoint
ALTER TABLE "automations" ADD COLUMN "revision" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "automations" ADD COLUMN "archived_at" bigint;