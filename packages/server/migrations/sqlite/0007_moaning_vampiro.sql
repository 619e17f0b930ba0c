CREATE TABLE `event_streams` (
	`workspace_id` text PRIMARY KEY NOT NULL,
	`last` integer NOT NULL
);
--> statement-breakpoint
DROP INDEX `events_contact`;--> statement-breakpoint
ALTER TABLE `events` ADD `campaign_id` text;--> statement-breakpoint
ALTER TABLE `events` ADD `automation_id` text;--> statement-breakpoint
ALTER TABLE `events` ADD `machine` integer;--> statement-breakpoint
ALTER TABLE `events` ADD `position` integer;--> statement-breakpoint
CREATE INDEX `events_type` ON `events` (`workspace_id`,`type`,`at`,`sequence`);--> statement-breakpoint
CREATE INDEX `events_campaign` ON `events` (`campaign_id`,`type`,`at`,`sequence`) WHERE "events"."campaign_id" is not null;--> statement-breakpoint
CREATE INDEX `events_automation` ON `events` (`automation_id`,`type`,`at`,`sequence`) WHERE "events"."automation_id" is not null;--> statement-breakpoint
CREATE INDEX `events_machine` ON `events` (`workspace_id`,`machine`,`type`,`at`,`sequence`) WHERE "events"."machine" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `events_position` ON `events` (`workspace_id`,`position`) WHERE "events"."position" is not null;--> statement-breakpoint
CREATE INDEX `events_unnumbered` ON `events` (`sequence`) WHERE "events"."position" is null;--> statement-breakpoint
CREATE INDEX `events_contact` ON `events` (`contact_id`) WHERE "events"."contact_id" is not null;