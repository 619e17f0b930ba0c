CREATE TABLE "campaign_contents" (
	"campaign_id" text NOT NULL,
	"variant" text NOT NULL,
	"contents_id" bigint NOT NULL,
	"preview_text" text,
	"source" json NOT NULL,
	CONSTRAINT "campaign_contents_campaign_id_variant_pk" PRIMARY KEY("campaign_id","variant")
);
--> statement-breakpoint
CREATE TABLE "campaign_link_clicks" (
	"campaign_id" text NOT NULL,
	"link" text NOT NULL,
	"email_id" text NOT NULL,
	CONSTRAINT "campaign_link_clicks_campaign_id_link_email_id_pk" PRIMARY KEY("campaign_id","link","email_id")
);
--> statement-breakpoint
CREATE TABLE "campaign_links" (
	"campaign_id" text NOT NULL,
	"link" text NOT NULL,
	"part" integer NOT NULL,
	"url" text NOT NULL,
	"clicks" integer NOT NULL,
	"unique_clicks" integer NOT NULL,
	"machine_clicks" integer NOT NULL,
	CONSTRAINT "campaign_links_campaign_id_link_part_pk" PRIMARY KEY("campaign_id","link","part")
);
--> statement-breakpoint
CREATE TABLE "campaign_reactions" (
	"campaign_id" text NOT NULL,
	"email_id" text NOT NULL,
	"opened_at" bigint,
	"clicked_at" bigint,
	"unsubscribed_at" bigint,
	CONSTRAINT "campaign_reactions_campaign_id_email_id_pk" PRIMARY KEY("campaign_id","email_id")
);
--> statement-breakpoint
CREATE TABLE "campaigns" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"name" text NOT NULL,
	"subject_line" text NOT NULL,
	"from_email" text NOT NULL,
	"from_name" text,
	"reply_to" text,
	"preview_text" text,
	"template_id" text,
	"html" text,
	"text_body" text,
	"recipient_type" text NOT NULL,
	"segment_id" text,
	"list_id" text,
	"status" text NOT NULL,
	"status_reason" json,
	"scheduled_at" bigint,
	"throttle" json,
	"ab_test" json,
	"winner" text,
	"track_opens" boolean NOT NULL,
	"track_clicks" boolean NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"started_at" bigint,
	"completed_at" bigint,
	"run" integer NOT NULL,
	"audience" json,
	"cursor" bigint NOT NULL,
	"eligible" integer NOT NULL,
	"expanded_at" bigint,
	"next_release_at" bigint,
	"released_at" bigint,
	"decide_at" bigint
);
--> statement-breakpoint
ALTER TABLE "emails" ADD COLUMN "campaign_id" text;--> statement-breakpoint
ALTER TABLE "emails" ADD COLUMN "contact_id" text;--> statement-breakpoint
ALTER TABLE "emails" ADD COLUMN "variant" text;--> statement-breakpoint
ALTER TABLE "emails" ADD COLUMN "skip_reason" text;--> statement-breakpoint
CREATE UNIQUE INDEX "campaign_contents_id" ON "campaign_contents" USING btree ("contents_id");--> statement-breakpoint
CREATE INDEX "campaign_link_clicks_email" ON "campaign_link_clicks" USING btree ("email_id");--> statement-breakpoint
CREATE INDEX "campaigns_workspace" ON "campaigns" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "campaigns_status" ON "campaigns" USING btree ("workspace_id","status","id");--> statement-breakpoint
CREATE UNIQUE INDEX "emails_campaign_address" ON "emails" USING btree ("campaign_id","to_key") WHERE campaign_id is not null;--> statement-breakpoint
CREATE INDEX "emails_campaign_status" ON "emails" USING btree ("campaign_id","status","id") WHERE campaign_id is not null;--> statement-breakpoint
CREATE INDEX "emails_campaign_waiting" ON "emails" USING btree ("campaign_id","variant","id") WHERE campaign_id is not null and next_attempt_at is null and status in ('queued', 'deferred');