-- What has to be indexed again. Partial: usually nothing has.
-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "message_search_version_idx" ON "message_search"("version", "agent_id") WHERE "version" < 2;
