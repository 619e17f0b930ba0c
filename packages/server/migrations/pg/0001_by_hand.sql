-- Parts of addresses and names, by the three characters they are made of. No extension: those that can do this need rights
-- that a database may not give, and know letters only as the language of the database does.
CREATE FUNCTION "contact_trigrams"("search_text" text) RETURNS tsvector LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1000 AS
$$ SELECT array_to_tsvector(ARRAY(SELECT DISTINCT substr("search_text", i, 3) FROM generate_series(1, length("search_text") - 2) AS i)) $$;
--> statement-breakpoint
CREATE INDEX "contacts_search" ON "contacts" USING gin ("contact_trigrams"("search_text")) WITH (gin_pending_list_limit = 512);
--> statement-breakpoint
-- A bucket is written with each call it lets through: without a log that is as cheap as it is short-lived. After a crash of the
-- database all are full.
ALTER TABLE "rate_buckets" SET UNLOGGED;
