CREATE TABLE "attachment_parts" (
	"contents_id" bigint NOT NULL,
	"position" integer NOT NULL,
	"part" integer NOT NULL,
	"content" "bytea" NOT NULL,
	CONSTRAINT "attachment_parts_contents_id_position_part_pk" PRIMARY KEY("contents_id","position","part")
);
--> statement-breakpoint
CREATE TABLE "inbox_parts" (
	"mail_id" text NOT NULL,
	"part" integer NOT NULL,
	"raw" "bytea" NOT NULL,
	CONSTRAINT "inbox_parts_mail_id_part_pk" PRIMARY KEY("mail_id","part")
);
