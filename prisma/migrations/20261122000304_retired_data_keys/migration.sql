-- Data keys that were replaced: what they sealed is still to be opened until it is sealed anew.
CREATE TABLE "retired_data_key" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "key" BYTEA NOT NULL,
    "retired_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "retired_data_key_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "retired_data_key_workspace_id_idx" ON "retired_data_key"("workspace_id");
ALTER TABLE "retired_data_key" ADD CONSTRAINT "retired_data_key_workspace_id_fkey"
  FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE CASCADE ON UPDATE CASCADE;
