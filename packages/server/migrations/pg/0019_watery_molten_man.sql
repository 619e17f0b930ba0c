CREATE TABLE "automation_contacts" (
	"automation_id" text NOT NULL,
	"contact_id" text NOT NULL,
	"entry_id" text NOT NULL,
	"entered_at" bigint NOT NULL,
	"inside" boolean NOT NULL,
	CONSTRAINT "automation_contacts_automation_id_contact_id_pk" PRIMARY KEY("automation_id","contact_id")
);
--> statement-breakpoint
CREATE TABLE "automation_entries" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"automation_id" text NOT NULL,
	"version" integer NOT NULL,
	"contact_id" text NOT NULL,
	"contact_seq" bigint NOT NULL,
	"status" text NOT NULL,
	"reason" text,
	"step_id" text,
	"due_at" bigint,
	"moves" integer NOT NULL,
	"entered_at" bigint NOT NULL,
	"ended_at" bigint,
	"goal_reached_at" bigint
);
--> statement-breakpoint
CREATE TABLE "automation_moves" (
	"entry_id" text NOT NULL,
	"move" integer NOT NULL,
	"step_id" text NOT NULL,
	"at" bigint NOT NULL,
	"outcome" text NOT NULL,
	"reason" text,
	"branch" text,
	"email_id" text,
	CONSTRAINT "automation_moves_entry_id_move_pk" PRIMARY KEY("entry_id","move")
);
--> statement-breakpoint
CREATE TABLE "automation_versions" (
	"automation_id" text NOT NULL,
	"version" integer NOT NULL,
	"steps" json NOT NULL,
	"connections" json NOT NULL,
	"templates" json,
	"created_at" bigint NOT NULL,
	CONSTRAINT "automation_versions_automation_id_version_pk" PRIMARY KEY("automation_id","version")
);
--> statement-breakpoint
CREATE TABLE "automations" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"name" text NOT NULL,
	"description" text,
	"status" text NOT NULL,
	"trigger_on" json NOT NULL,
	"trigger_key" text NOT NULL,
	"goal" json,
	"goal_key" text,
	"version" integer NOT NULL,
	"allow_re_entry" boolean NOT NULL,
	"re_entry_delay_hours" integer NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"deleted_at" bigint
);
--> statement-breakpoint
CREATE INDEX "automation_contacts_contact" ON "automation_contacts" USING btree ("contact_id","inside");--> statement-breakpoint
CREATE INDEX "automation_entries_automation" ON "automation_entries" USING btree ("automation_id","id");--> statement-breakpoint
CREATE INDEX "automation_entries_status" ON "automation_entries" USING btree ("automation_id","status","id");--> statement-breakpoint
CREATE INDEX "automation_entries_contact" ON "automation_entries" USING btree ("automation_id","contact_id");--> statement-breakpoint
CREATE INDEX "automations_workspace" ON "automations" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "automations_trigger" ON "automations" USING btree ("workspace_id","trigger_key") WHERE status = 'ACTIVE';--> statement-breakpoint
CREATE INDEX "automations_goal" ON "automations" USING btree ("workspace_id","goal_key") WHERE status = 'ACTIVE';