ALTER TABLE `contents` ADD `traceparent` text;--> statement-breakpoint
ALTER TABLE `webhook_deliveries` ADD `traceparent` text;--> statement-breakpoint
ALTER TABLE `webhook_events` ADD `traceparent` text;