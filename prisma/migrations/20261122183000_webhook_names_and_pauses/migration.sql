-- A webhook's name, and since when nothing is delivered to it.
ALTER TABLE "webhook" ADD COLUMN "name" TEXT, ADD COLUMN "paused_at" TIMESTAMPTZ(3);
