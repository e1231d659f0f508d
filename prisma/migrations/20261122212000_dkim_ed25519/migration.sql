-- AlterTable
ALTER TABLE "dkim_key" ADD COLUMN "ed25519_private_key" BYTEA,
ADD COLUMN "ed25519_public_key" TEXT;
