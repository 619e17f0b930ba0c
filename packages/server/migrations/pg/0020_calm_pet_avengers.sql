CREATE TABLE "automation_revenue" (
	"automation_id" text NOT NULL,
	"part" integer NOT NULL,
	"revenue" bigint NOT NULL,
	"goal_revenue" bigint NOT NULL,
	CONSTRAINT "automation_revenue_automation_id_part_pk" PRIMARY KEY("automation_id","part")
);
--> statement-breakpoint
ALTER TABLE "automation_entries" ADD COLUMN "revenue" bigint;--> statement-breakpoint
ALTER TABLE "automation_entries" ADD COLUMN "goal_revenue" bigint;--> statement-breakpoint
ALTER TABLE "automations" ADD COLUMN "currency" text DEFAULT 'USD' NOT NULL;