-- Numbers the suppressions in the order of their ids, and adds an index of the three characters that addresses are made of, as
-- `contacts` has one. By hand, because a column of type bigserial would number them in the order in which they are stored.
DROP INDEX "suppressions_workspace";
--> statement-breakpoint
DROP INDEX "suppressions_filter";
--> statement-breakpoint
DROP INDEX "suppressions_since";
--> statement-breakpoint
ALTER TABLE "suppressions" DROP CONSTRAINT "suppressions_pkey";
--> statement-breakpoint
ALTER TABLE "suppressions" ADD COLUMN "seq" bigint;
--> statement-breakpoint
CREATE SEQUENCE "suppressions_seq_seq" OWNED BY "suppressions"."seq";
--> statement-breakpoint
UPDATE "suppressions" SET "seq" = n."seq" FROM (SELECT "id", row_number() OVER (ORDER BY "id") AS "seq" FROM "suppressions") n WHERE n."id" = "suppressions"."id";
--> statement-breakpoint
SELECT setval('suppressions_seq_seq', (SELECT max("seq") FROM "suppressions"));
--> statement-breakpoint
ALTER TABLE "suppressions" ALTER COLUMN "seq" SET DEFAULT nextval('suppressions_seq_seq'), ADD PRIMARY KEY ("seq");
--> statement-breakpoint
CREATE UNIQUE INDEX "suppressions_id" ON "suppressions" USING btree ("id");
--> statement-breakpoint
CREATE INDEX "suppressions_workspace" ON "suppressions" USING btree ("workspace_id","seq");
--> statement-breakpoint
CREATE INDEX "suppressions_filter" ON "suppressions" USING btree ("workspace_id","reason","scope","source","seq");
--> statement-breakpoint
CREATE INDEX "suppressions_since" ON "suppressions" USING btree ("workspace_id","created_at","seq");
--> statement-breakpoint
CREATE INDEX "suppressions_search" ON "suppressions" USING gin ("contact_trigrams"("email")) WITH (gin_pending_list_limit = 512);
