CREATE INDEX `emails_status` ON `emails` (`workspace_id`,`status`,`id`);--> statement-breakpoint
CREATE INDEX `emails_to` ON `emails` (`workspace_id`,`to_key`,`id`);--> statement-breakpoint
CREATE INDEX `emails_in_doubt` ON `emails` (`workspace_id`,`in_doubt`,`id`) WHERE in_doubt;--> statement-breakpoint
CREATE INDEX `senders_list` ON `senders` (`workspace_id`,`id`);