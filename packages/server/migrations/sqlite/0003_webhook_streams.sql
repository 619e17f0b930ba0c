ALTER TABLE `agent_events` RENAME TO `webhook_events`;--> statement-breakpoint
ALTER TABLE `webhook_events` RENAME COLUMN `activation_id` TO `stream_id`;--> statement-breakpoint
ALTER TABLE `webhook_events` RENAME COLUMN `listing_id` TO `endpoint_id`;--> statement-breakpoint
ALTER TABLE `webhook_events` RENAME COLUMN `run_id` TO `subject_id`;--> statement-breakpoint
ALTER TABLE `webhook_events` ADD `passes_hold` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `webhook_events` ADD `last_attempt` integer;--> statement-breakpoint
UPDATE `webhook_events` SET `passes_hold` = true WHERE `type` = 'agent.paused';--> statement-breakpoint
UPDATE `webhook_events` SET `last_attempt` = `attempts` WHERE `last_at` IS NOT NULL;--> statement-breakpoint
DROP INDEX `agent_events_sequence`;--> statement-breakpoint
DROP INDEX `agent_events_listing`;--> statement-breakpoint
DROP INDEX `agent_events_open`;--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_events_sequence` ON `webhook_events` (`stream_id`,`sequence`);--> statement-breakpoint
CREATE INDEX `webhook_events_endpoint` ON `webhook_events` (`endpoint_id`,`id`);--> statement-breakpoint
CREATE INDEX `webhook_events_open` ON `webhook_events` (`stream_id`,`sequence`) WHERE "webhook_events"."settled_at" is null;--> statement-breakpoint
ALTER TABLE `delivery_lanes` RENAME TO `webhook_streams`;--> statement-breakpoint
ALTER TABLE `webhook_streams` RENAME COLUMN `activation_id` TO `stream_id`;--> statement-breakpoint
ALTER TABLE `webhook_streams` RENAME COLUMN `listing_id` TO `endpoint_id`;--> statement-breakpoint
ALTER TABLE `webhook_streams` DROP COLUMN `period`;--> statement-breakpoint
ALTER TABLE `webhook_streams` ADD `interrupted` integer DEFAULT false NOT NULL;--> statement-breakpoint
DROP INDEX `delivery_lanes_due`;--> statement-breakpoint
CREATE INDEX `webhook_streams_due` ON `webhook_streams` (`endpoint_id`,`due_at`) WHERE "webhook_streams"."due_at" is not null;--> statement-breakpoint
ALTER TABLE `delivery_attempts` RENAME TO `webhook_attempts`;--> statement-breakpoint
DROP INDEX `delivery_attempts_event`;--> statement-breakpoint
CREATE INDEX `webhook_attempts_event` ON `webhook_attempts` (`event_id`,`attempt`);