-- The texts of attachments, kept when they are first read, and the messages whose files the search index still lacks. Existing
-- messages are added when somebody reads a file of theirs.
CREATE TABLE "attachment_text" (
    "message_id" UUID NOT NULL,
    "agent_id" UUID NOT NULL,
    "index" INTEGER NOT NULL,
    "format" TEXT,
    "pages" INTEGER,
    "problem" TEXT,
    "content" BYTEA,
    "blob_id" UUID,

    CONSTRAINT "attachment_text_pkey" PRIMARY KEY ("message_id","index","agent_id"),
    CONSTRAINT "attachment_text_one_place" CHECK (num_nonnulls("content", "blob_id") = 1)
);

-- Whether a message still has an object.
CREATE INDEX "attachment_text_blob_idx" ON "attachment_text"("agent_id", "blob_id") WHERE "blob_id" IS NOT NULL;

ALTER TABLE "attachment_text" ADD CONSTRAINT "attachment_text_attachment_fkey" FOREIGN KEY ("message_id", "index", "agent_id") REFERENCES "attachment"("message_id", "index", "agent_id") ON DELETE CASCADE ON UPDATE NO ACTION;

CREATE TABLE "unread_file" (
    "agent_id" UUID NOT NULL,
    "message_id" UUID NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "unread_file_pkey" PRIMARY KEY ("agent_id","message_id")
);

ALTER TABLE "unread_file" ADD CONSTRAINT "unread_file_message_id_agent_id_fkey" FOREIGN KEY ("message_id", "agent_id") REFERENCES "message"("id", "agent_id") ON DELETE CASCADE ON UPDATE NO ACTION;
