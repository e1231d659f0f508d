-- Where each token's last call that waited for an agent's messages ended, and until when one waits.
CREATE TABLE "waiter" (
    "agent_id" UUID NOT NULL,
    "token_id" UUID NOT NULL,
    "position" BIGINT NOT NULL,
    "waits_until" TIMESTAMPTZ(3),

    CONSTRAINT "waiter_pkey" PRIMARY KEY ("agent_id","token_id")
);
CREATE INDEX "waiter_token_id_idx" ON "waiter"("token_id");
ALTER TABLE "waiter" ADD CONSTRAINT "waiter_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE NO ACTION;
ALTER TABLE "waiter" ADD CONSTRAINT "waiter_token_id_fkey" FOREIGN KEY ("token_id") REFERENCES "token"("id") ON DELETE CASCADE ON UPDATE CASCADE;
