CREATE TABLE `held_domains` (
	`domain` text PRIMARY KEY NOT NULL,
	`reason` text,
	`held_at` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `held_emails` (
	`domain` text NOT NULL,
	`workspace_id` text NOT NULL,
	`email_id` text NOT NULL,
	`bytes` integer NOT NULL,
	PRIMARY KEY(`domain`, `workspace_id`, `email_id`)
) WITHOUT ROWID;
