-- Messages that are being written.
CREATE TABLE "draft" (
    "id" UUID NOT NULL,
    "agent_id" UUID NOT NULL,
    "content" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "draft_pkey" PRIMARY KEY ("id","agent_id")
);

CREATE TABLE "draft_file" (
    "draft_id" UUID NOT NULL,
    "agent_id" UUID NOT NULL,
    "index" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "size" INTEGER NOT NULL,
    "content" BYTEA NOT NULL,

    CONSTRAINT "draft_file_pkey" PRIMARY KEY ("draft_id","index","agent_id")
);

CREATE INDEX "draft_agent_id_created_at_id_idx" ON "draft"("agent_id", "created_at" DESC, "id" DESC);

ALTER TABLE "draft" ADD CONSTRAINT "draft_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

ALTER TABLE "draft_file" ADD CONSTRAINT "draft_file_draft_id_agent_id_fkey" FOREIGN KEY ("draft_id", "agent_id") REFERENCES "draft"("id", "agent_id") ON DELETE CASCADE ON UPDATE NO ACTION;
