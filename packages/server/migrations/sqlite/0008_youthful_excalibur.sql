DROP INDEX `jobs_due`;--> statement-breakpoint
ALTER TABLE `jobs` ADD `lane` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `jobs_ready` ON `jobs` (`state`,`lane`,`run_at`);