-- no-transaction
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "message_signed_content_key" ON "message"("agent_id", "signed_content") WHERE "signed_content" IS NOT NULL;
