-- What changed in a workspace, for workspaceChanged. Rows are only added, and deleted after a day.
CREATE TABLE "workspace_change" (
    "workspace_id" UUID NOT NULL,
    "xid" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "kind" TEXT NOT NULL,
    "agent_id" UUID,
    "ids" UUID[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "workspace_change_pkey" PRIMARY KEY ("workspace_id","xid","id")
);

-- For deleting old rows. A block range index, because it costs those who add rows next to nothing.
CREATE INDEX "workspace_change_created_at_idx" ON "workspace_change" USING BRIN ("created_at");

ALTER TABLE "workspace_change" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
