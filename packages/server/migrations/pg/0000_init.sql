CREATE TABLE "attachments" (
	"contents_id" bigint NOT NULL,
	"position" integer NOT NULL,
	"filename" text NOT NULL,
	"content_type" text NOT NULL,
	"content_id" text,
	"size" integer NOT NULL,
	"content" "bytea" NOT NULL,
	CONSTRAINT "attachments_contents_id_position_pk" PRIMARY KEY("contents_id","position")
);
--> statement-breakpoint
CREATE TABLE "contents" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"from_text" text NOT NULL,
	"reply_to" text,
	"subject" text NOT NULL,
	"html" text,
	"text_body" text,
	"headers" json NOT NULL,
	"tags" json NOT NULL,
	"attachments" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "emails" (
	"workspace_id" text NOT NULL,
	"id" text NOT NULL,
	"contents_id" bigint NOT NULL,
	"to_text" text NOT NULL,
	"to_key" text NOT NULL,
	"status" text NOT NULL,
	"attempts" integer NOT NULL,
	"in_doubt" boolean NOT NULL,
	"last_error" json,
	"created_at" bigint NOT NULL,
	"scheduled_at" bigint,
	"next_attempt_at" bigint,
	"sent_at" bigint,
	"updated_at" bigint NOT NULL,
	CONSTRAINT "emails_workspace_id_id_pk" PRIMARY KEY("workspace_id","id")
);
--> statement-breakpoint
CREATE TABLE "events" (
	"sequence" bigserial PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"type" text NOT NULL,
	"email_id" text,
	"at" bigint NOT NULL,
	"data" json
);
--> statement-breakpoint
CREATE TABLE "idempotency" (
	"key_id" text NOT NULL,
	"route" text NOT NULL,
	"idempotency_key" text NOT NULL,
	"request_hash" text NOT NULL,
	"status" integer NOT NULL,
	"answer" text NOT NULL,
	"created_at" bigint NOT NULL,
	CONSTRAINT "idempotency_key_id_route_idempotency_key_pk" PRIMARY KEY("key_id","route","idempotency_key")
);
--> statement-breakpoint
CREATE TABLE "inbox" (
	"id" text PRIMARY KEY NOT NULL,
	"email_id" text,
	"workspace_id" text,
	"to_text" text NOT NULL,
	"from_text" text NOT NULL,
	"subject" text NOT NULL,
	"size" integer NOT NULL,
	"raw" "bytea" NOT NULL,
	"received_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "keys" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"name" text NOT NULL,
	"permissions" json NOT NULL,
	"owner" boolean NOT NULL,
	"hash" text NOT NULL,
	"preview" text NOT NULL,
	"created_at" bigint NOT NULL,
	"revoked_at" bigint
);
--> statement-breakpoint
CREATE TABLE "meta" (
	"name" text PRIMARY KEY NOT NULL,
	"value" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "rate_buckets" (
	"name" text PRIMARY KEY NOT NULL,
	"tokens" double precision NOT NULL,
	"granted" double precision NOT NULL,
	"at" double precision NOT NULL
);
--> statement-breakpoint
CREATE TABLE "senders" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"kind" text NOT NULL,
	"value" text NOT NULL,
	"status" text NOT NULL,
	"token" text NOT NULL,
	"last_error" text,
	"created_at" bigint NOT NULL,
	"verified_at" bigint
);
--> statement-breakpoint
CREATE TABLE "suppressions" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"email" text NOT NULL,
	"reason" text NOT NULL,
	"scope" text NOT NULL,
	"email_id" text,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "workers" (
	"name" text PRIMARY KEY NOT NULL,
	"seen_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "workspaces" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE INDEX "events_email" ON "events" USING btree ("email_id");--> statement-breakpoint
CREATE INDEX "idempotency_age" ON "idempotency" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "inbox_to" ON "inbox" USING btree ("to_text");--> statement-breakpoint
CREATE UNIQUE INDEX "keys_hash" ON "keys" USING btree ("hash");--> statement-breakpoint
CREATE INDEX "keys_workspace" ON "keys" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "senders_value" ON "senders" USING btree ("workspace_id","value");--> statement-breakpoint
CREATE UNIQUE INDEX "senders_token" ON "senders" USING btree ("token");--> statement-breakpoint
CREATE UNIQUE INDEX "suppressions_email" ON "suppressions" USING btree ("workspace_id","email");--> statement-breakpoint
CREATE INDEX "suppressions_workspace" ON "suppressions" USING btree ("workspace_id","id");