-- Whose report the service still waits for: few at any time.
CREATE INDEX "recipient_awaited_idx" ON "recipient"("updated_at") WHERE "status" = 'sending' AND "provider_id" IS NOT NULL;
