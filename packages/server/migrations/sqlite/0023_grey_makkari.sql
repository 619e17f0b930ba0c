CREATE TABLE `webhook_deliveries` (
	`id` text PRIMARY KEY NOT NULL,
	`endpoint_id` text NOT NULL,
	`stream_id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`type` text NOT NULL,
	`subject_id` text,
	`sequence` integer NOT NULL,
	`at` integer NOT NULL,
	`event_key` integer,
	`body` text NOT NULL,
	`sealed` blob,
	`passes_hold` integer DEFAULT false NOT NULL,
	`state` text NOT NULL,
	`attempts` integer NOT NULL,
	`tries` integer NOT NULL,
	`due_at` integer,
	`last_attempt` integer,
	`last_at` integer,
	`last_ms` integer,
	`last_class` text,
	`last_status` integer,
	`last_error` text,
	`last_answer` text,
	`settled_at` integer
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `webhook_deliveries_endpoint` ON `webhook_deliveries` (`endpoint_id`,`id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_type` ON `webhook_deliveries` (`endpoint_id`,`type`,`id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_settled` ON `webhook_deliveries` (`endpoint_id`,`state`,`id`) WHERE "webhook_deliveries"."settled_at" is not null;--> statement-breakpoint
CREATE INDEX `webhook_deliveries_open` ON `webhook_deliveries` (`stream_id`,`sequence`) WHERE "webhook_deliveries"."settled_at" is null;