-- Parts of addresses and names, by the three characters they are made of. No extension: those that can do this need rights
-- that a database may not give, and know letters only as the language of the database does.
CREATE FUNCTION "contact_trigrams"("search_text" text) RETURNS tsvector LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1000 AS
$$ SELECT array_to_tsvector(ARRAY(SELECT DISTINCT substr("search_text", i, 3) FROM generate_series(1, length("search_text") - 2) AS i)) $$;
--> statement-breakpoint
CREATE INDEX "contacts_search" ON "contacts" USING gin ("contact_trigrams"("search_text")) WITH (gin_pending_list_limit = 512);
--> statement-breakpoint
CREATE INDEX "suppressions_search" ON "suppressions" USING gin ("contact_trigrams"("email")) WITH (gin_pending_list_limit = 512);
--> statement-breakpoint
-- A bucket is written with each call it lets through: without a log that is as cheap as it is short-lived. After a crash of the
-- database all are full.
ALTER TABLE "rate_buckets" SET UNLOGGED;
--> statement-breakpoint
-- Half of each page is left free, so that a contact that changes stays on its page and no index is written, unless an indexed column
-- changes: that of the search costs 100 µs, because its trigrams are computed again. Each contact that is compared with the rules of
-- segments is written, to lock it: 8 instead of 105 µs. The rows take twice as much of the disk, 270 bytes more for each contact.
ALTER TABLE "contacts" SET (fillfactor = 50);
--> statement-breakpoint
-- Which emails have contents of a month that is to be dropped. Both are stored in the order of time, so a page of this index says it of
-- millions of emails, and a send pays nothing for it.
CREATE INDEX "emails_contents" ON "emails" USING brin ("contents_id");
