-- Numbers the suppressions in the order of their ids, and adds an index of the three characters that addresses are made of, as
-- `contacts` has one. By hand, because the number is the new key of the table, and a row number that is no key may change.
CREATE TABLE `new_suppressions` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`email` text NOT NULL,
	`reason` text NOT NULL,
	`scope` text NOT NULL,
	`source` text NOT NULL,
	`email_id` text,
	`note` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
INSERT INTO `new_suppressions` (`id`, `workspace_id`, `email`, `reason`, `scope`, `source`, `email_id`, `note`, `created_at`, `updated_at`)
	SELECT `id`, `workspace_id`, `email`, `reason`, `scope`, `source`, `email_id`, `note`, `created_at`, `updated_at` FROM `suppressions` ORDER BY `id`;
--> statement-breakpoint
DROP TABLE `suppressions`;
--> statement-breakpoint
ALTER TABLE `new_suppressions` RENAME TO `suppressions`;
--> statement-breakpoint
CREATE UNIQUE INDEX `suppressions_id` ON `suppressions` (`id`);
--> statement-breakpoint
CREATE UNIQUE INDEX `suppressions_email` ON `suppressions` (`workspace_id`,`email`);
--> statement-breakpoint
CREATE INDEX `suppressions_workspace` ON `suppressions` (`workspace_id`,`seq`);
--> statement-breakpoint
CREATE INDEX `suppressions_filter` ON `suppressions` (`workspace_id`,`reason`,`scope`,`source`,`seq`);
--> statement-breakpoint
CREATE INDEX `suppressions_since` ON `suppressions` (`workspace_id`,`created_at`,`seq`);
--> statement-breakpoint
CREATE VIRTUAL TABLE `suppressions_search` USING fts5(`email`, content = 'suppressions', content_rowid = 'seq', tokenize = 'trigram case_sensitive 1', detail = 'none', columnsize = 0);
--> statement-breakpoint
INSERT INTO `suppressions_search` (`suppressions_search`) VALUES ('rebuild');
--> statement-breakpoint
CREATE VIRTUAL TABLE `suppressions_trigrams` USING fts5vocab('suppressions_search', 'row');
--> statement-breakpoint
CREATE TRIGGER `suppressions_search_insert` AFTER INSERT ON `suppressions` BEGIN
	INSERT INTO `suppressions_search` (`rowid`, `email`) VALUES (new.`seq`, new.`email`);
END;
--> statement-breakpoint
CREATE TRIGGER `suppressions_search_delete` AFTER DELETE ON `suppressions` BEGIN
	INSERT INTO `suppressions_search` (`suppressions_search`, `rowid`, `email`) VALUES ('delete', old.`seq`, old.`email`);
END;
--> statement-breakpoint
CREATE TRIGGER `suppressions_search_update` AFTER UPDATE OF `email` ON `suppressions` WHEN old.`email` <> new.`email` BEGIN
	INSERT INTO `suppressions_search` (`suppressions_search`, `rowid`, `email`) VALUES ('delete', old.`seq`, old.`email`);
	INSERT INTO `suppressions_search` (`rowid`, `email`) VALUES (new.`seq`, new.`email`);
END;
