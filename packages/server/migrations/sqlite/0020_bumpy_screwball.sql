CREATE TABLE `automation_contacts` (
	`automation_id` text NOT NULL,
	`contact_id` text NOT NULL,
	`entry_id` text NOT NULL,
	`entered_at` integer NOT NULL,
	`inside` integer NOT NULL,
	PRIMARY KEY(`automation_id`, `contact_id`)
);
--> statement-breakpoint
CREATE INDEX `automation_contacts_contact` ON `automation_contacts` (`contact_id`,`inside`);--> statement-breakpoint
CREATE TABLE `automation_entries` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`automation_id` text NOT NULL,
	`version` integer NOT NULL,
	`contact_id` text NOT NULL,
	`contact_seq` integer NOT NULL,
	`status` text NOT NULL,
	`reason` text,
	`step_id` text,
	`due_at` integer,
	`moves` integer NOT NULL,
	`entered_at` integer NOT NULL,
	`ended_at` integer,
	`goal_reached_at` integer
);
--> statement-breakpoint
CREATE INDEX `automation_entries_automation` ON `automation_entries` (`automation_id`,`id`);--> statement-breakpoint
CREATE INDEX `automation_entries_status` ON `automation_entries` (`automation_id`,`status`,`id`);--> statement-breakpoint
CREATE INDEX `automation_entries_contact` ON `automation_entries` (`automation_id`,`contact_id`);--> statement-breakpoint
CREATE TABLE `automation_moves` (
	`entry_id` text NOT NULL,
	`move` integer NOT NULL,
	`step_id` text NOT NULL,
	`at` integer NOT NULL,
	`outcome` text NOT NULL,
	`reason` text,
	`branch` text,
	`email_id` text,
	PRIMARY KEY(`entry_id`, `move`)
);
--> statement-breakpoint
CREATE TABLE `automation_versions` (
	`automation_id` text NOT NULL,
	`version` integer NOT NULL,
	`steps` text NOT NULL,
	`connections` text NOT NULL,
	`templates` text,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`automation_id`, `version`)
);
--> statement-breakpoint
CREATE TABLE `automations` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	`description` text,
	`status` text NOT NULL,
	`trigger_on` text NOT NULL,
	`trigger_key` text NOT NULL,
	`goal` text,
	`goal_key` text,
	`version` integer NOT NULL,
	`allow_re_entry` integer NOT NULL,
	`re_entry_delay_hours` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`deleted_at` integer
);
--> statement-breakpoint
CREATE INDEX `automations_workspace` ON `automations` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `automations_trigger` ON `automations` (`workspace_id`,`trigger_key`) WHERE status = 'ACTIVE';--> statement-breakpoint
CREATE INDEX `automations_goal` ON `automations` (`workspace_id`,`goal_key`) WHERE status = 'ACTIVE';