-- Deleting an agent no longer deletes its messages, events and jobs in the same statement: a worker does so, in batches.
CREATE TABLE "deleted_agent" (
    "agent_id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "deleted_at" TIMESTAMPTZ(3) NOT NULL,
    "empty_at" TIMESTAMPTZ(3),

    CONSTRAINT "deleted_agent_pkey" PRIMARY KEY ("agent_id")
);

ALTER TABLE "message" DROP CONSTRAINT "message_agent_id_fkey";
ALTER TABLE "message" DROP CONSTRAINT "message_workspace_id_fkey";
ALTER TABLE "event" DROP CONSTRAINT "event_agent_id_fkey";
ALTER TABLE "job" DROP CONSTRAINT "job_agent_id_fkey";

-- How long messages and the emails as received are kept; null means for ever.
ALTER TABLE "workspace" ADD COLUMN "keep_messages_days" INTEGER, ADD COLUMN "keep_raw_days" INTEGER;
ALTER TABLE "workspace" ADD CONSTRAINT "workspace_keep_messages_days_check" CHECK ("keep_messages_days" BETWEEN 1 AND 36500);
ALTER TABLE "workspace" ADD CONSTRAINT "workspace_keep_raw_days_check" CHECK ("keep_raw_days" BETWEEN 1 AND 36500);

-- By default, a fifth of a table must be dead before its space is used again: 200,000 of a million messages.
ALTER TABLE "message" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);
ALTER TABLE "message_raw" SET (autovacuum_vacuum_scale_factor = 0.02, toast.autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE "attachment" SET (autovacuum_vacuum_scale_factor = 0.02, toast.autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE "message_search" SET (autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE "recipient" SET (autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE "event" SET (autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE "job" SET (autovacuum_vacuum_scale_factor = 0.02);
