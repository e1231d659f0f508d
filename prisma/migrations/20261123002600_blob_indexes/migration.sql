-- Whether a message still has an object. Partial: most installations have none.
-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "message_raw_blob_idx" ON "message_raw"("agent_id", "blob_id") WHERE "blob_id" IS NOT NULL;

-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "attachment_blob_idx" ON "attachment"("agent_id", "blob_id") WHERE "blob_id" IS NOT NULL;

-- no-transaction
ALTER TABLE "message_raw" VALIDATE CONSTRAINT "message_raw_one_place";

-- no-transaction
ALTER TABLE "attachment" VALIDATE CONSTRAINT "attachment_one_place";

-- no-transaction
ALTER TABLE "message_raw" VALIDATE CONSTRAINT "message_raw_blob_id_agent_id_fkey";

-- no-transaction
ALTER TABLE "attachment" VALIDATE CONSTRAINT "attachment_blob_id_agent_id_fkey";
