-- CreateTable
CREATE TABLE "identity_link" (
    "code_hash" BYTEA NOT NULL,
    "member_id" UUID NOT NULL,
    "agent_id" UUID,
    "used_by" TEXT,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "identity_link_pkey" PRIMARY KEY ("code_hash")
);

-- CreateIndex
CREATE INDEX "identity_link_member_id_idx" ON "identity_link"("member_id");

-- CreateIndex
CREATE INDEX "identity_link_agent_id_idx" ON "identity_link"("agent_id");

-- AddForeignKey
ALTER TABLE "identity_link" ADD CONSTRAINT "identity_link_member_id_fkey" FOREIGN KEY ("member_id") REFERENCES "member"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "identity_link" ADD CONSTRAINT "identity_link_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;
