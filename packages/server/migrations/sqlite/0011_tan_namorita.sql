CREATE TABLE `engagements` (
	`workspace_id` text NOT NULL,
	`email_id` text NOT NULL,
	`link_id` integer NOT NULL,
	`machine` integer NOT NULL,
	`events` integer NOT NULL,
	`first_at` integer NOT NULL,
	`last_at` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `email_id`, `link_id`, `machine`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `held_clicks` (
	`workspace_id` text NOT NULL,
	`email_id` text NOT NULL,
	`link_id` integer NOT NULL,
	`machine` integer NOT NULL,
	`reason` text,
	`client` text NOT NULL,
	`at` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `email_id`, `link_id`, `machine`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `tracked_links` (
	`id` integer PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`hash` text NOT NULL,
	`url` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tracked_links_hash` ON `tracked_links` (`workspace_id`,`hash`);--> statement-breakpoint
ALTER TABLE `contents` ADD `tracking` text;