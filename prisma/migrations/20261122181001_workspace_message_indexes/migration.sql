-- no-transaction
-- The messages of all agents of a workspace, newest first.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "message_workspace_idx" ON "message"("workspace_id", "created_at" DESC, "id" DESC);

-- no-transaction
DROP INDEX CONCURRENTLY IF EXISTS "message_workspace_id_created_at_idx";

-- no-transaction
-- Those that are refused, failed or reported, in place of an index of the refused ones. Few messages are in it.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "message_workspace_status_idx" ON "message"("workspace_id", "status", "created_at" DESC, "id" DESC)
  WHERE "status" IN ('refused', 'failed', 'reported');

-- no-transaction
DROP INDEX CONCURRENTLY IF EXISTS "message_refused_idx";

-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "message_workspace_unread_idx" ON "message"("workspace_id", "created_at" DESC, "id" DESC)
  WHERE "status" = 'received' AND "read_at" IS NULL;

-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "message_workspace_labelled_idx" ON "message"("workspace_id", "created_at" DESC, "id" DESC)
  WHERE "labels" <> '{}';

-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "message_workspace_held_idx" ON "message"("workspace_id", "created_at" DESC, "id" DESC)
  WHERE "status" = 'sending' AND "hold_reason" IS NOT NULL AND "hold_until" IS NOT NULL;
