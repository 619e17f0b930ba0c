-- Moves the numbers of events to a table of their own. By hand, because they are copied before their column is dropped.
CREATE TABLE "event_arrivals" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"event_keys" json NOT NULL
);
--> statement-breakpoint
CREATE TABLE "event_numbers" (
	"workspace_id" text NOT NULL,
	"position" bigint NOT NULL,
	"event_key" bigint NOT NULL,
	CONSTRAINT "event_numbers_workspace_id_position_pk" PRIMARY KEY("workspace_id","position")
);
--> statement-breakpoint
INSERT INTO "event_numbers" ("workspace_id", "position", "event_key")
	SELECT "workspace_id", "position", "sequence" FROM "events" WHERE "position" IS NOT NULL ORDER BY "workspace_id", "position";
--> statement-breakpoint
INSERT INTO "event_arrivals" ("workspace_id", "event_keys")
	SELECT "workspace_id", json_build_array("sequence") FROM "events" WHERE "position" IS NULL ORDER BY "sequence";
--> statement-breakpoint
DROP INDEX "events_position";--> statement-breakpoint
DROP INDEX "events_unnumbered";--> statement-breakpoint
CREATE UNIQUE INDEX "event_numbers_event" ON "event_numbers" USING btree ("event_key");--> statement-breakpoint
ALTER TABLE "events" DROP COLUMN "position";