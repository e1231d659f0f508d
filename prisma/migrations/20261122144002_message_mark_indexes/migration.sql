-- no-transaction
-- An agent's unread messages, newest first, also for counting them.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "message_unread_idx" ON "message"("agent_id", "created_at" DESC, "id" DESC)
  WHERE "status" = 'received' AND "read_at" IS NULL;

-- no-transaction
-- An agent's labelled messages, newest first. New messages have no labels, so receiving does not write to it.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "message_labelled_idx" ON "message"("agent_id", "created_at" DESC, "id" DESC)
  WHERE "labels" <> '{}';
