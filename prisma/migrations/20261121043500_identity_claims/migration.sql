-- CreateTable
CREATE TABLE "identity_claim" (
    "member_id" UUID NOT NULL,
    "channel" "Channel" NOT NULL,
    "value" TEXT NOT NULL,
    "code" BYTEA NOT NULL,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "identity_claim_pkey" PRIMARY KEY ("member_id","channel")
);

-- AddForeignKey
ALTER TABLE "identity_claim" ADD CONSTRAINT "identity_claim_member_id_fkey" FOREIGN KEY ("member_id") REFERENCES "member"("id") ON DELETE CASCADE ON UPDATE CASCADE;
