-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "audit_entry_actor_id_created_at_idx" ON "audit_entry"("actor_id", "created_at");
