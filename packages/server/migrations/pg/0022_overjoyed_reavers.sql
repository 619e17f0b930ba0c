CREATE TABLE "webhook_deliveries" (
	"id" text PRIMARY KEY NOT NULL,
	"endpoint_id" text NOT NULL,
	"stream_id" text NOT NULL,
	"workspace_id" text NOT NULL,
	"type" text NOT NULL,
	"subject_id" text,
	"sequence" integer NOT NULL,
	"at" bigint NOT NULL,
	"event_key" bigint,
	"body" text NOT NULL,
	"sealed" "bytea",
	"passes_hold" boolean DEFAULT false NOT NULL,
	"state" text NOT NULL,
	"attempts" integer NOT NULL,
	"tries" integer NOT NULL,
	"due_at" bigint,
	"last_attempt" integer,
	"last_at" bigint,
	"last_ms" integer,
	"last_class" text,
	"last_status" integer,
	"last_error" text,
	"last_answer" text,
	"settled_at" bigint
);
--> statement-breakpoint
CREATE INDEX "webhook_deliveries_endpoint" ON "webhook_deliveries" USING btree ("endpoint_id","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_type" ON "webhook_deliveries" USING btree ("endpoint_id","type","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_settled" ON "webhook_deliveries" USING btree ("endpoint_id","state","id") WHERE "webhook_deliveries"."settled_at" is not null;--> statement-breakpoint
CREATE INDEX "webhook_deliveries_open" ON "webhook_deliveries" USING btree ("stream_id","sequence") WHERE "webhook_deliveries"."settled_at" is null;