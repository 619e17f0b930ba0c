CREATE TABLE "held_domains" (
	"domain" text PRIMARY KEY NOT NULL,
	"reason" text,
	"held_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "held_emails" (
	"domain" text NOT NULL,
	"workspace_id" text NOT NULL,
	"email_id" text NOT NULL,
	"bytes" integer NOT NULL,
	CONSTRAINT "held_emails_domain_workspace_id_email_id_pk" PRIMARY KEY("domain","workspace_id","email_id")
);
