-- What full-text search looks in stands apart from the messages and is written after them: words cost as much as all else of a message.
CREATE TABLE "message_search" (
    "message_id" UUID NOT NULL,
    "words" tsvector NOT NULL,

    CONSTRAINT "message_search_pkey" PRIMARY KEY ("message_id")
);

CREATE TABLE "unindexed_message" (
    "message_id" UUID NOT NULL,
    "agent_id" UUID NOT NULL,

    CONSTRAINT "unindexed_message_pkey" PRIMARY KEY ("message_id")
);

CREATE INDEX "message_search_words_idx" ON "message_search" USING GIN ("words");

CREATE INDEX "unindexed_message_agent_id_idx" ON "unindexed_message"("agent_id");

ALTER TABLE "message_search" ADD CONSTRAINT "message_search_message_id_fkey" FOREIGN KEY ("message_id") REFERENCES "message"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- A queue: short, and never at rest.
ALTER TABLE "unindexed_message" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- The database itself notes what is to be indexed, whoever stores it: an older build beside this one does not know of the table.
CREATE FUNCTION note_unindexed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO unindexed_message (message_id, agent_id) SELECT id, agent_id FROM added;
  RETURN NULL;
END $$;

CREATE TRIGGER message_unindexed AFTER INSERT ON "message" REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION note_unindexed();

INSERT INTO "unindexed_message" ("message_id", "agent_id") SELECT "id", "agent_id" FROM "message";

DROP INDEX "message_search_idx";
