-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "audit_entry_request_id_idx" ON "audit_entry"("request_id") WHERE "request_id" IS NOT NULL;
