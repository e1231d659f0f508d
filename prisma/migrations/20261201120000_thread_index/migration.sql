-- no-transaction
-- What is counted of a thread's messages is read in the index alone. It replaces the one that has the same columns without these.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "message_thread_idx" ON "message"("agent_id", "thread_id", "created_at")
  INCLUDE ("status", "read_at", "handled");

-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "message_thread_labelled_idx" ON "message"("agent_id", "thread_id") WHERE "labels" <> '{}';

-- no-transaction
DROP INDEX CONCURRENTLY IF EXISTS "message_agent_id_thread_id_created_at_idx";
