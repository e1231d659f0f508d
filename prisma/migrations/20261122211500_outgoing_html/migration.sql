-- AlterTable
ALTER TABLE "message" ADD COLUMN "html" TEXT;
