-- no-transaction
-- Webhooks of which an event was given up, until their owners are told. Nearly none are in it.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "webhook_given_up_at_idx" ON "webhook"("given_up_at")
  WHERE "given_up_at" IS NOT NULL AND "owner_told_at" IS NULL;

-- no-transaction
-- Subscriptions that end by themselves, to find those that have ended.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "webhook_expires_at_idx" ON "webhook"("expires_at") WHERE "expires_at" IS NOT NULL;

-- no-transaction
-- Whether somebody has written to an agent: whom it may write to without approval.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "message_sender_idx" ON "message"("agent_id", "channel", "counterpart")
  WHERE "direction" = 'inbound' AND "status" IN ('received', 'imported');
