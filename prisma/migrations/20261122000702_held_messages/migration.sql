-- no-transaction
-- The messages that wait, of an agent and of all agents (to end those that waited too long). It contains few rows and costs others nothing.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "message_held_idx" ON "message"("agent_id", "created_at" DESC, "id" DESC)
  WHERE "status" = 'sending' AND "hold_reason" IS NOT NULL AND "hold_until" IS NOT NULL;
