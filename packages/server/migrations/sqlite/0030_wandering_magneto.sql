CREATE TABLE `provider_connections` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`provider` text NOT NULL,
	`token` text NOT NULL,
	`key` blob NOT NULL,
	`description` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `provider_connections_token` ON `provider_connections` (`token`);--> statement-breakpoint
CREATE INDEX `provider_connections_workspace` ON `provider_connections` (`workspace_id`,`id`);