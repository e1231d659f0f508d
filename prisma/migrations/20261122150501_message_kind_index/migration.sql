-- no-transaction
-- Lists that are filtered by channel, direction or status, built beside running services.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "message_kind_idx" ON "message"("agent_id", "channel", "direction", "status", "created_at" DESC, "id" DESC);
