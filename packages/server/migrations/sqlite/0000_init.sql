CREATE TABLE `attachments` (
	`contents_id` integer NOT NULL,
	`position` integer NOT NULL,
	`filename` text NOT NULL,
	`content_type` text NOT NULL,
	`content_id` text,
	`size` integer NOT NULL,
	`content` blob NOT NULL,
	PRIMARY KEY(`contents_id`, `position`)
);
--> statement-breakpoint
CREATE TABLE `contents` (
	`id` integer PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`from_text` text NOT NULL,
	`reply_to` text,
	`subject` text NOT NULL,
	`html` text,
	`text_body` text,
	`headers` text NOT NULL,
	`tags` text NOT NULL,
	`attachments` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `emails` (
	`workspace_id` text NOT NULL,
	`id` text NOT NULL,
	`contents_id` integer NOT NULL,
	`to_text` text NOT NULL,
	`to_key` text NOT NULL,
	`status` text NOT NULL,
	`attempts` integer NOT NULL,
	`in_doubt` integer NOT NULL,
	`last_error` text,
	`created_at` integer NOT NULL,
	`scheduled_at` integer,
	`next_attempt_at` integer,
	`sent_at` integer,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `events` (
	`sequence` integer PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`type` text NOT NULL,
	`email_id` text,
	`at` integer NOT NULL,
	`data` text
);
--> statement-breakpoint
CREATE INDEX `events_email` ON `events` (`email_id`);--> statement-breakpoint
CREATE TABLE `idempotency` (
	`key_id` text NOT NULL,
	`route` text NOT NULL,
	`idempotency_key` text NOT NULL,
	`request_hash` text NOT NULL,
	`status` integer NOT NULL,
	`answer` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`key_id`, `route`, `idempotency_key`)
);
--> statement-breakpoint
CREATE INDEX `idempotency_age` ON `idempotency` (`created_at`);--> statement-breakpoint
CREATE TABLE `inbox` (
	`id` text PRIMARY KEY NOT NULL,
	`email_id` text,
	`workspace_id` text,
	`to_text` text NOT NULL,
	`from_text` text NOT NULL,
	`subject` text NOT NULL,
	`size` integer NOT NULL,
	`raw` blob NOT NULL,
	`received_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `inbox_to` ON `inbox` (`to_text`);--> statement-breakpoint
CREATE TABLE `jobs` (
	`id` integer PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`payload` text NOT NULL,
	`state` text NOT NULL,
	`run_at` integer NOT NULL,
	`attempts` integer NOT NULL,
	`max_attempts` integer NOT NULL,
	`locked_until` integer,
	`dedupe_key` text,
	`last_error` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `jobs_due` ON `jobs` (`state`,`run_at`);--> statement-breakpoint
CREATE UNIQUE INDEX `jobs_dedupe` ON `jobs` (`dedupe_key`) WHERE "jobs"."dedupe_key" is not null;--> statement-breakpoint
CREATE TABLE `keys` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	`permissions` text NOT NULL,
	`owner` integer NOT NULL,
	`hash` text NOT NULL,
	`preview` text NOT NULL,
	`created_at` integer NOT NULL,
	`revoked_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `keys_hash` ON `keys` (`hash`);--> statement-breakpoint
CREATE INDEX `keys_workspace` ON `keys` (`workspace_id`,`id`);--> statement-breakpoint
CREATE TABLE `meta` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `senders` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`kind` text NOT NULL,
	`value` text NOT NULL,
	`status` text NOT NULL,
	`token` text NOT NULL,
	`last_error` text,
	`created_at` integer NOT NULL,
	`verified_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `senders_value` ON `senders` (`workspace_id`,`value`);--> statement-breakpoint
CREATE UNIQUE INDEX `senders_token` ON `senders` (`token`);--> statement-breakpoint
CREATE TABLE `suppressions` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`email` text NOT NULL,
	`reason` text NOT NULL,
	`scope` text NOT NULL,
	`email_id` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `suppressions_email` ON `suppressions` (`workspace_id`,`email`);--> statement-breakpoint
CREATE INDEX `suppressions_workspace` ON `suppressions` (`workspace_id`,`id`);--> statement-breakpoint
CREATE TABLE `workspaces` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`created_at` integer NOT NULL
);
