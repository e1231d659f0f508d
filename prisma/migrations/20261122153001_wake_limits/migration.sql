-- How often messages may wake an agent: in an hour, and in one thread in a day. Null means no limit.
ALTER TABLE "agent" ADD COLUMN "wakes_per_hour" INTEGER,
ADD COLUMN "wakes_per_thread_day" INTEGER;
