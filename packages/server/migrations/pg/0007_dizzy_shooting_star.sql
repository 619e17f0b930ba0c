CREATE TABLE "event_streams" (
	"workspace_id" text PRIMARY KEY NOT NULL,
	"last" bigint NOT NULL
);
--> statement-breakpoint
DROP INDEX "events_contact";--> statement-breakpoint
ALTER TABLE "events" ADD COLUMN "campaign_id" text;--> statement-breakpoint
ALTER TABLE "events" ADD COLUMN "automation_id" text;--> statement-breakpoint
ALTER TABLE "events" ADD COLUMN "machine" boolean;--> statement-breakpoint
ALTER TABLE "events" ADD COLUMN "position" bigint;--> statement-breakpoint
CREATE INDEX "events_type" ON "events" USING btree ("workspace_id","type","at","sequence");--> statement-breakpoint
CREATE INDEX "events_campaign" ON "events" USING btree ("campaign_id","type","at","sequence") WHERE "events"."campaign_id" is not null;--> statement-breakpoint
CREATE INDEX "events_automation" ON "events" USING btree ("automation_id","type","at","sequence") WHERE "events"."automation_id" is not null;--> statement-breakpoint
CREATE INDEX "events_machine" ON "events" USING btree ("workspace_id","machine","type","at","sequence") WHERE "events"."machine" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "events_position" ON "events" USING btree ("workspace_id","position") WHERE "events"."position" is not null;--> statement-breakpoint
CREATE INDEX "events_unnumbered" ON "events" USING btree ("sequence") WHERE "events"."position" is null;--> statement-breakpoint
CREATE INDEX "events_contact" ON "events" USING btree ("contact_id") WHERE "events"."contact_id" is not null;