-- Types of the events that an agent's log contains, and what an event tells besides its message.
ALTER TABLE "agent" ADD COLUMN "event_types" TEXT[] DEFAULT ARRAY['message.received']::TEXT[];
ALTER TABLE "event" ADD COLUMN "detail" JSONB;
