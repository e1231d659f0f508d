-- Contents in an object store: a row of message_raw or attachment has either its bytes or the object's id.
CREATE TABLE "blob" (
    "id" UUID NOT NULL,
    "agent_id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "hash" BYTEA NOT NULL,
    "size" INTEGER NOT NULL,
    "check_at" TIMESTAMPTZ(3),

    CONSTRAINT "blob_pkey" PRIMARY KEY ("id","agent_id")
);

CREATE UNIQUE INDEX "blob_agent_id_hash_key" ON "blob"("agent_id", "hash");

-- Few at a time: new objects, and those of messages that were deleted.
CREATE INDEX "blob_check_at_idx" ON "blob"("check_at") WHERE "check_at" IS NOT NULL;

CREATE TABLE "deleted_blob" (
    "id" UUID NOT NULL,
    "agent_id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "hash" BYTEA NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "deleted_blob_pkey" PRIMARY KEY ("id","agent_id")
);

CREATE INDEX "deleted_blob_due_at_idx" ON "deleted_blob"("due_at");

CREATE TABLE "blob_key" (
    "workspace_id" UUID NOT NULL,
    "sealed" BYTEA NOT NULL,

    CONSTRAINT "blob_key_pkey" PRIMARY KEY ("workspace_id")
);

ALTER TABLE "blob_key" ADD CONSTRAINT "blob_key_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- Short locks: the next migration checks the rows that are there.
ALTER TABLE "message_raw" ADD COLUMN "blob_id" UUID;
ALTER TABLE "message_raw" ADD CONSTRAINT "message_raw_one_place" CHECK (num_nonnulls("content", "blob_id") = 1) NOT VALID;
ALTER TABLE "message_raw" ALTER COLUMN "content" DROP NOT NULL;
ALTER TABLE "attachment" ADD COLUMN "blob_id" UUID;
ALTER TABLE "attachment" ADD CONSTRAINT "attachment_one_place" CHECK (num_nonnulls("content", "blob_id") = 1) NOT VALID;
ALTER TABLE "attachment" ALTER COLUMN "content" DROP NOT NULL;

ALTER TABLE "message_raw" ADD CONSTRAINT "message_raw_blob_id_agent_id_fkey" FOREIGN KEY ("blob_id", "agent_id") REFERENCES "blob"("id", "agent_id") ON DELETE NO ACTION ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "attachment" ADD CONSTRAINT "attachment_blob_id_agent_id_fkey" FOREIGN KEY ("blob_id", "agent_id") REFERENCES "blob"("id", "agent_id") ON DELETE NO ACTION ON UPDATE NO ACTION NOT VALID;
