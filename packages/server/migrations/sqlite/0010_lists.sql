CREATE INDEX `jobs_workspace` ON `jobs` (payload ->> 'workspaceId',`id`);--> statement-breakpoint
CREATE INDEX `jobs_dead` ON `jobs` (payload ->> 'workspaceId',`id`) WHERE state = 'dead';--> statement-breakpoint
CREATE INDEX `webhook_events_state` ON `webhook_events` (`endpoint_id`,`state`,`id`);--> statement-breakpoint
CREATE INDEX `webhook_events_type` ON `webhook_events` (`endpoint_id`,`type`,`id`);