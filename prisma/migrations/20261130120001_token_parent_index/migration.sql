-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "token_parent_id_idx" ON "token"("parent_id");
