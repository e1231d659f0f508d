-- no-transaction
-- Messages of open threads, newest first, of an agent and of a workspace. Most messages leave them when their thread is done.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "message_open_idx" ON "message"("agent_id", "created_at" DESC, "id" DESC)
  WHERE NOT "handled" AND "status" NOT IN ('refused', 'imported');

-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "message_workspace_open_idx" ON "message"("workspace_id", "created_at" DESC, "id" DESC)
  WHERE NOT "handled" AND "status" NOT IN ('refused', 'imported');
