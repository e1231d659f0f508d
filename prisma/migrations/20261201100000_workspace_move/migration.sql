CREATE TABLE "workspace_move" (
    "workspace_id" UUID NOT NULL,
    "target" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "moved_at" TIMESTAMPTZ(3),

    CONSTRAINT "workspace_move_pkey" PRIMARY KEY ("workspace_id")
);

ALTER TABLE "workspace_move" ADD CONSTRAINT "workspace_move_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE CASCADE ON UPDATE CASCADE;
