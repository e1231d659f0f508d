-- When a worker must look at a webhook: the poll reads this index, which contains no idle webhook.
ALTER TABLE "webhook" ADD COLUMN "due_at" TIMESTAMPTZ(3);
CREATE INDEX "webhook_due_at_idx" ON "webhook"("due_at") WHERE "due_at" IS NOT NULL;

-- Finds replaced connections that are past their retention time.
CREATE INDEX "connection_replaced_at_idx" ON "connection"("replaced_at") WHERE "replaced_at" IS NOT NULL;

UPDATE "webhook" w SET "due_at" = coalesce(w."retry_at", now())
  FROM "event_log" l
 WHERE l."agent_id" = w."agent_id" AND (w."position" < l."last_id" OR w."answered" < w."asked" OR w."lease_owner" IS NOT NULL);
