ALTER TABLE `automation_entries` ADD `waiting_in` text;--> statement-breakpoint
ALTER TABLE `automations` ADD `revision` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `automations` ADD `archived_at` integer;