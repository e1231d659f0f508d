-- The codes and links in received messages, and those of them that nobody has taken yet. Secrets may expire.
ALTER TABLE "message" ADD COLUMN "codes" JSONB NOT NULL DEFAULT '[]';

CREATE TABLE "untaken_code" (
    "message_id" UUID NOT NULL,
    "agent_id" UUID NOT NULL,
    "index" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "untaken_code_pkey" PRIMARY KEY ("message_id","index","agent_id")
);
CREATE INDEX "untaken_code_agent_id_created_at_idx" ON "untaken_code"("agent_id", "created_at" DESC);
ALTER TABLE "untaken_code" ADD CONSTRAINT "untaken_code_message_id_agent_id_fkey" FOREIGN KEY ("message_id", "agent_id") REFERENCES "message"("id", "agent_id") ON DELETE CASCADE ON UPDATE NO ACTION;

ALTER TABLE "secret" ADD COLUMN "expires_at" TIMESTAMPTZ(3);
