-- AlterTable
ALTER TABLE "recipient" ADD COLUMN     "delivered_at" TIMESTAMPTZ(3),
ADD COLUMN     "provider_id" TEXT;

-- Reports name what they speak of by the provider's id. Email has none.
CREATE INDEX "recipient_provider_id_idx" ON "recipient"("provider_id") WHERE "provider_id" IS NOT NULL;

-- The newest message with a counterpart through an address: what a chat's next message belongs to. Email goes by Message-IDs.
CREATE INDEX "message_counterpart_idx" ON "message"("agent_id", "address_id", "counterpart", "created_at" DESC) WHERE "channel" IN ('sms', 'telegram');
