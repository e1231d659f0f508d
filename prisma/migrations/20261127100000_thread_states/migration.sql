-- Threads that are done, postponed or assigned to a member, with notes of members. A new message opens its thread again, because it is not
-- marked as handled, whoever stores it. Existing messages are not either, so that all existing threads are open.
ALTER TABLE "message" ADD COLUMN "handled" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN "sent_by_member_id" UUID,
ADD COLUMN "sent_by_name" TEXT;

ALTER TABLE "draft" ADD COLUMN "reply_to_id" UUID,
ADD COLUMN "saved_by_member_id" UUID,
ADD COLUMN "saved_by_name" TEXT;

CREATE TABLE "thread_state" (
    "agent_id" UUID NOT NULL,
    "thread_id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "done_at" TIMESTAMPTZ(3),
    "snoozed_until" TIMESTAMPTZ(3),
    "assigned_to" UUID,

    CONSTRAINT "thread_state_pkey" PRIMARY KEY ("agent_id","thread_id")
);

-- What waits: few rows, looked at every few seconds.
CREATE INDEX "thread_state_due_idx" ON "thread_state"("snoozed_until") WHERE "snoozed_until" IS NOT NULL;
CREATE INDEX "thread_state_snoozed_idx" ON "thread_state"("agent_id") WHERE "snoozed_until" IS NOT NULL;
CREATE INDEX "thread_state_workspace_snoozed_idx" ON "thread_state"("workspace_id") WHERE "snoozed_until" IS NOT NULL;
CREATE INDEX "thread_state_assigned_idx" ON "thread_state"("assigned_to", "agent_id") WHERE "assigned_to" IS NOT NULL;

CREATE TABLE "thread_note" (
    "id" UUID NOT NULL,
    "agent_id" UUID NOT NULL,
    "thread_id" UUID NOT NULL,
    "text" TEXT NOT NULL,
    "member_id" UUID NOT NULL,
    "member_name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "thread_note_pkey" PRIMARY KEY ("agent_id","thread_id","id")
);
