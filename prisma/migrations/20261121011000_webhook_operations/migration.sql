-- AlterTable
ALTER TABLE "event" ADD COLUMN     "agent_name" TEXT;

-- AlterTable
ALTER TABLE "job" ADD COLUMN     "asked_at" TIMESTAMPTZ(3),
ADD COLUMN     "event_id" BIGINT;

-- AlterTable
ALTER TABLE "webhook" ADD COLUMN     "answered" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "asked" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "failing_since" TIMESTAMPTZ(3),
ADD COLUMN     "given_up_at" TIMESTAMPTZ(3),
ADD COLUMN     "owner_told_at" TIMESTAMPTZ(3),
ADD COLUMN     "revision" INTEGER NOT NULL DEFAULT 0;
