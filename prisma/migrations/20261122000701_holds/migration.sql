-- Messages that wait for a member's approval or for their time.
CREATE TYPE "Approval" AS ENUM ('none', 'strangers', 'all');
CREATE TYPE "HoldReason" AS ENUM ('approval', 'schedule');

ALTER TABLE "agent" ADD COLUMN "approval" "Approval" NOT NULL DEFAULT 'none';
ALTER TABLE "member" ADD COLUMN "approval_mails" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "message" ADD COLUMN "hold_reason" "HoldReason",
  ADD COLUMN "hold_until" TIMESTAMPTZ(3),
  ADD COLUMN "hold_by" TEXT,
  ADD COLUMN "send_at" TIMESTAMPTZ(3);
