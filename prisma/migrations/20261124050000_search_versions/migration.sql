-- How a message's words were found: 1 by PostgreSQL's parser, 2 by the service. A build from before this column goes on writing 1,
-- and these are indexed again. Negative: how often it failed.
ALTER TABLE "message_search" ADD COLUMN "version" SMALLINT NOT NULL DEFAULT 1;
