CREATE TABLE "developer_webhooks" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"url" text NOT NULL,
	"description" text,
	"events" json NOT NULL,
	"status" text NOT NULL,
	"alert_email" text,
	"secret" "bytea" NOT NULL,
	"next_secret" "bytea",
	"next_secret_at" bigint,
	"failing_since" bigint,
	"last_error" json,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "webhook_events" ADD COLUMN "event_key" bigint;--> statement-breakpoint
CREATE INDEX "developer_webhooks_workspace" ON "developer_webhooks" USING btree ("workspace_id","id");