CREATE TABLE `attachment_parts` (
	`contents_id` integer NOT NULL,
	`position` integer NOT NULL,
	`part` integer NOT NULL,
	`content` blob NOT NULL,
	PRIMARY KEY(`contents_id`, `position`, `part`)
);
--> statement-breakpoint
CREATE TABLE `inbox_parts` (
	`mail_id` text NOT NULL,
	`part` integer NOT NULL,
	`raw` blob NOT NULL,
	PRIMARY KEY(`mail_id`, `part`)
);
