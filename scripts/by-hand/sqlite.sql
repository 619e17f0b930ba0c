-- Parts of addresses and names, by the three characters they are made of. The text itself stays in `contacts`.
CREATE VIRTUAL TABLE `contacts_search` USING fts5(`search_text`, content = 'contacts', content_rowid = 'seq', tokenize = 'trigram case_sensitive 1', detail = 'none', columnsize = 0);
--> statement-breakpoint
CREATE VIRTUAL TABLE `contacts_trigrams` USING fts5vocab('contacts_search', 'row');
--> statement-breakpoint
CREATE TRIGGER `contacts_search_insert` AFTER INSERT ON `contacts` BEGIN
	INSERT INTO `contacts_search` (`rowid`, `search_text`) VALUES (new.`seq`, new.`search_text`);
END;
--> statement-breakpoint
CREATE TRIGGER `contacts_search_delete` AFTER DELETE ON `contacts` BEGIN
	INSERT INTO `contacts_search` (`contacts_search`, `rowid`, `search_text`) VALUES ('delete', old.`seq`, old.`search_text`);
END;
--> statement-breakpoint
CREATE TRIGGER `contacts_search_update` AFTER UPDATE OF `search_text` ON `contacts` WHEN old.`search_text` <> new.`search_text` BEGIN
	INSERT INTO `contacts_search` (`contacts_search`, `rowid`, `search_text`) VALUES ('delete', old.`seq`, old.`search_text`);
	INSERT INTO `contacts_search` (`rowid`, `search_text`) VALUES (new.`seq`, new.`search_text`);
END;
--> statement-breakpoint
-- The same for suppressed addresses.
CREATE VIRTUAL TABLE `suppressions_search` USING fts5(`email`, content = 'suppressions', content_rowid = 'seq', tokenize = 'trigram case_sensitive 1', detail = 'none', columnsize = 0);
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
