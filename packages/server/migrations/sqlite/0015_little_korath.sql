CREATE TABLE `inbound_reports` (
	`key` text PRIMARY KEY NOT NULL,
	`received_at` integer NOT NULL
) WITHOUT ROWID;
