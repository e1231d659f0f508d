-- The messages of a Telegram album arrive in separate updates and wait here for each other.
CREATE TABLE "album_part" (
    "agent_id" UUID NOT NULL,
    "address_id" UUID NOT NULL,
    "chat_id" BIGINT NOT NULL,
    "group_id" TEXT NOT NULL,
    "message_id" BIGINT NOT NULL,
    "content" TEXT,
    "arrived_at" TIMESTAMPTZ(3) NOT NULL,
    "batch_id" UUID,
    "lease_until" TIMESTAMPTZ(3),

    CONSTRAINT "album_part_pkey" PRIMARY KEY ("agent_id","address_id","chat_id","group_id","message_id")
);

CREATE INDEX "album_part_address_id_idx" ON "album_part"("address_id");
CREATE INDEX "album_part_arrived_at_idx" ON "album_part"("arrived_at");

-- What waits: few rows, looked at every second.
CREATE INDEX "album_part_waiting_idx" ON "album_part"("address_id", "chat_id", "group_id") WHERE "content" IS NOT NULL;

ALTER TABLE "album_part" ADD CONSTRAINT "album_part_address_id_fkey" FOREIGN KEY ("address_id") REFERENCES "address"("id") ON DELETE CASCADE ON UPDATE CASCADE;
