-- Whether the channel proved who sent a message that came in. Null in rows from before, and of what was sent.
ALTER TABLE "message" ADD COLUMN "proven" BOOLEAN;
