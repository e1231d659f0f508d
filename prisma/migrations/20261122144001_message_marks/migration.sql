-- Labels, and when a message was marked as read. Existing messages count as read from now on: nobody could mark them before. The default
-- is evaluated once and stored in the catalogue, so no row is written; new messages are unread.
ALTER TABLE "message" ADD COLUMN "labels" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN "read_at" TIMESTAMPTZ(3) DEFAULT now();
ALTER TABLE "message" ALTER COLUMN "read_at" DROP DEFAULT;
