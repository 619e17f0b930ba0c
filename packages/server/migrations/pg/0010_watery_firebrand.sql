CREATE TABLE "engagements" (
	"workspace_id" text NOT NULL,
	"email_id" text NOT NULL,
	"link_id" bigint NOT NULL,
	"machine" boolean NOT NULL,
	"events" integer NOT NULL,
	"first_at" bigint NOT NULL,
	"last_at" bigint NOT NULL,
	CONSTRAINT "engagements_workspace_id_email_id_link_id_machine_pk" PRIMARY KEY("workspace_id","email_id","link_id","machine")
);
--> statement-breakpoint
CREATE TABLE "held_clicks" (
	"workspace_id" text NOT NULL,
	"email_id" text NOT NULL,
	"link_id" bigint NOT NULL,
	"machine" boolean NOT NULL,
	"reason" text,
	"client" text NOT NULL,
	"at" bigint NOT NULL,
	CONSTRAINT "held_clicks_workspace_id_email_id_link_id_machine_pk" PRIMARY KEY("workspace_id","email_id","link_id","machine")
);
--> statement-breakpoint
CREATE TABLE "tracked_links" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"hash" text NOT NULL,
	"url" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "contents" ADD COLUMN "tracking" json;--> statement-breakpoint
CREATE UNIQUE INDEX "tracked_links_hash" ON "tracked_links" USING btree ("workspace_id","hash");