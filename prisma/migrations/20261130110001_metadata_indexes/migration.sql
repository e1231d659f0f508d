-- no-transaction
-- Messages with metadata, newest first, of an agent and of a workspace. Most have none.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "message_metadata_idx" ON "message"("agent_id", "created_at" DESC, "id" DESC)
  WHERE "metadata" <> '{}'::jsonb;

-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "message_workspace_metadata_idx" ON "message"("workspace_id", "created_at" DESC, "id" DESC)
  WHERE "metadata" <> '{}'::jsonb;
