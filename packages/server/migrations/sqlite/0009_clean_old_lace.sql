CREATE TABLE `campaign_contents` (
	`campaign_id` text NOT NULL,
	`variant` text NOT NULL,
	`contents_id` integer NOT NULL,
	`preview_text` text,
	`source` text NOT NULL,
	PRIMARY KEY(`campaign_id`, `variant`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `campaign_contents_id` ON `campaign_contents` (`contents_id`);--> statement-breakpoint
CREATE TABLE `campaign_link_clicks` (
	`campaign_id` text NOT NULL,
	`link` text NOT NULL,
	`email_id` text NOT NULL,
	PRIMARY KEY(`campaign_id`, `link`, `email_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `campaign_link_clicks_email` ON `campaign_link_clicks` (`email_id`);--> statement-breakpoint
CREATE TABLE `campaign_links` (
	`campaign_id` text NOT NULL,
	`link` text NOT NULL,
	`part` integer NOT NULL,
	`url` text NOT NULL,
	`clicks` integer NOT NULL,
	`unique_clicks` integer NOT NULL,
	`machine_clicks` integer NOT NULL,
	PRIMARY KEY(`campaign_id`, `link`, `part`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `campaign_reactions` (
	`campaign_id` text NOT NULL,
	`email_id` text NOT NULL,
	`opened_at` integer,
	`clicked_at` integer,
	`unsubscribed_at` integer,
	PRIMARY KEY(`campaign_id`, `email_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `campaigns` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	`subject_line` text NOT NULL,
	`from_email` text NOT NULL,
	`from_name` text,
	`reply_to` text,
	`preview_text` text,
	`template_id` text,
	`html` text,
	`text_body` text,
	`recipient_type` text NOT NULL,
	`segment_id` text,
	`list_id` text,
	`status` text NOT NULL,
	`status_reason` text,
	`scheduled_at` integer,
	`throttle` text,
	`ab_test` text,
	`winner` text,
	`track_opens` integer NOT NULL,
	`track_clicks` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`started_at` integer,
	`completed_at` integer,
	`run` integer NOT NULL,
	`audience` text,
	`cursor` integer NOT NULL,
	`eligible` integer NOT NULL,
	`expanded_at` integer,
	`next_release_at` integer,
	`released_at` integer,
	`decide_at` integer
);
--> statement-breakpoint
CREATE INDEX `campaigns_workspace` ON `campaigns` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `campaigns_status` ON `campaigns` (`workspace_id`,`status`,`id`);--> statement-breakpoint
ALTER TABLE `emails` ADD `campaign_id` text;--> statement-breakpoint
ALTER TABLE `emails` ADD `contact_id` text;--> statement-breakpoint
ALTER TABLE `emails` ADD `variant` text;--> statement-breakpoint
ALTER TABLE `emails` ADD `skip_reason` text;--> statement-breakpoint
CREATE UNIQUE INDEX `emails_campaign_address` ON `emails` (`campaign_id`,`to_key`) WHERE campaign_id is not null;--> statement-breakpoint
CREATE INDEX `emails_campaign_status` ON `emails` (`campaign_id`,`status`,`id`) WHERE campaign_id is not null;--> statement-breakpoint
CREATE INDEX `emails_campaign_waiting` ON `emails` (`campaign_id`,`variant`,`id`) WHERE campaign_id is not null and next_attempt_at is null and status in ('queued', 'deferred');