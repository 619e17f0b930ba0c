CREATE TABLE "inbound_reports" (
	"key" text PRIMARY KEY NOT NULL,
	"received_at" bigint NOT NULL
);
