DROP INDEX "events_campaign";--> statement-breakpoint
DROP INDEX "events_automation";--> statement-breakpoint
CREATE INDEX "events_campaign" ON "events" USING btree ("workspace_id","campaign_id","type","at","sequence") WHERE "events"."campaign_id" is not null;--> statement-breakpoint
CREATE INDEX "events_automation" ON "events" USING btree ("workspace_id","automation_id","type","at","sequence") WHERE "events"."automation_id" is not null;