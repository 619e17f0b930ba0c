CREATE TABLE `developer_webhooks` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`url` text NOT NULL,
	`description` text,
	`events` text NOT NULL,
	`status` text NOT NULL,
	`alert_email` text,
	`secret` blob NOT NULL,
	`next_secret` blob,
	`next_secret_at` integer,
	`failing_since` integer,
	`last_error` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `developer_webhooks_workspace` ON `developer_webhooks` (`workspace_id`,`id`);--> statement-breakpoint
ALTER TABLE `webhook_events` ADD `event_key` integer;