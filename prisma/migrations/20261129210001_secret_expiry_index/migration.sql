-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "secret_expires_at_idx" ON "secret"("expires_at") WHERE "expires_at" IS NOT NULL;
