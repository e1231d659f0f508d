-- no-transaction
-- What is pruned, and what does not count for a plan. Built beside running services, which go on writing meanwhile.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "message_refused_idx" ON "message"("workspace_id", "created_at") WHERE "status" = 'refused';
