-- AlterTable
ALTER TABLE "workspace" ADD COLUMN "delete_at" TIMESTAMPTZ(3);
