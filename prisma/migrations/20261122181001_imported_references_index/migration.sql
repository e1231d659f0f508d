-- no-transaction
-- Finds the imported messages that refer to a mail which is imported after them. Partial, so that receiving a message costs nothing.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "message_imported_references_idx" ON "message" USING gin ("thread_references") WHERE "status" = 'imported';
