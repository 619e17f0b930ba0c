CREATE TABLE `held_agent_events` (
	`id` integer PRIMARY KEY NOT NULL,
	`activation_id` text NOT NULL,
	`event` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `held_agent_events_activation` ON `held_agent_events` (`activation_id`,`id`);