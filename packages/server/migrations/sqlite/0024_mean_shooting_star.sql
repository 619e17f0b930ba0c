ALTER TABLE `automation_entries` ADD `waits_for` text;--> statement-breakpoint
ALTER TABLE `automation_entries` ADD `met` integer;--> statement-breakpoint
ALTER TABLE `automation_entries` ADD `event` text;--> statement-breakpoint
ALTER TABLE `automation_entries` ADD `failures` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `automation_entries_due` ON `automation_entries` (`automation_id`,`due_at`,`id`) WHERE status = 'ACTIVE';--> statement-breakpoint
CREATE INDEX `automation_entries_waiting` ON `automation_entries` (`contact_id`,`waits_for`) WHERE "automation_entries"."waits_for" is not null;--> statement-breakpoint
ALTER TABLE `automations` ADD `next_date_at` integer;