CREATE TABLE `automation_revenue` (
	`automation_id` text NOT NULL,
	`part` integer NOT NULL,
	`revenue` integer NOT NULL,
	`goal_revenue` integer NOT NULL,
	PRIMARY KEY(`automation_id`, `part`)
);
--> statement-breakpoint
ALTER TABLE `automation_entries` ADD `revenue` integer;--> statement-breakpoint
ALTER TABLE `automation_entries` ADD `goal_revenue` integer;--> statement-breakpoint
ALTER TABLE `automations` ADD `currency` text DEFAULT 'USD' NOT NULL;