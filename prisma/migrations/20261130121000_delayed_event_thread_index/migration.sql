-- no-transaction
-- Each new message that is to wait looks for the first one of its thread, in a batch with the mail of all agents.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "delayed_event_agent_id_thread_id_due_at_idx" ON "delayed_event"("agent_id", "thread_id", "due_at");
