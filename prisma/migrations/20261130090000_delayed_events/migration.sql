-- Messages of one thread that arrive shortly after each other may wake their agent together.
ALTER TABLE "agent" ADD COLUMN "wake_after_seconds" INTEGER NOT NULL DEFAULT 0;

CREATE TABLE "delayed_event" (
    "message_id" UUID NOT NULL,
    "agent_id" UUID NOT NULL,
    "thread_id" UUID NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "sender" JSONB NOT NULL,
    "from" TEXT NOT NULL,
    "detail" JSONB NOT NULL,

    CONSTRAINT "delayed_event_pkey" PRIMARY KEY ("agent_id","message_id")
);
CREATE INDEX "delayed_event_due_at_idx" ON "delayed_event"("due_at");
ALTER TABLE "delayed_event" ADD CONSTRAINT "delayed_event_message_id_agent_id_fkey" FOREIGN KEY ("message_id", "agent_id") REFERENCES "message"("id", "agent_id") ON DELETE CASCADE ON UPDATE NO ACTION;
