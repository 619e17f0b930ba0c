CREATE TABLE "held_agent_events" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"activation_id" text NOT NULL,
	"event" json NOT NULL
);
--> statement-breakpoint
CREATE INDEX "held_agent_events_activation" ON "held_agent_events" USING btree ("activation_id","id");