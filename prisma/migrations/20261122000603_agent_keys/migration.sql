-- The keys are swapped for those whose indexes are built already. Nothing is read for it, so the locks last for an instant.
LOCK TABLE "agent", "message", "message_search", "unindexed_message", "message_raw", "attachment", "recipient", "event_log", "event", "job",
  "webhook", "webhook_farewell", "connection", "secret", "suppression", "access", "address" IN ACCESS EXCLUSIVE MODE;

-- Statements of the folders that own the tables do what the triggers did: a distributed table has none.
DROP TRIGGER "message_unindexed" ON "message";
DROP FUNCTION "note_unindexed";
DROP TRIGGER "address_given" ON "address";
DROP FUNCTION "keep_given_address";
DROP TRIGGER "webhook_farewell" ON "webhook";
DROP FUNCTION "say_farewell";

-- The foreign keys hang on the old primary key of messages. The new ones are checked for new rows from here on, and for the old ones next.
-- An agent's id never changes, and a distributed table cannot follow if it did.
ALTER TABLE "message_search" DROP CONSTRAINT "message_search_message_id_fkey";
ALTER TABLE "message_raw" DROP CONSTRAINT "message_raw_message_id_fkey";
ALTER TABLE "attachment" DROP CONSTRAINT "attachment_message_id_fkey";
ALTER TABLE "recipient" DROP CONSTRAINT "recipient_message_id_fkey";
ALTER TABLE "message" DROP CONSTRAINT "message_reply_to_id_fkey";
ALTER TABLE "message" DROP CONSTRAINT "message_forward_of_id_fkey";
ALTER TABLE "message" DROP CONSTRAINT "message_agent_id_fkey";
ALTER TABLE "event_log" DROP CONSTRAINT "event_log_agent_id_fkey";
ALTER TABLE "event" DROP CONSTRAINT "event_agent_id_fkey";
ALTER TABLE "job" DROP CONSTRAINT "job_agent_id_fkey";
ALTER TABLE "webhook" DROP CONSTRAINT "webhook_agent_id_fkey";
ALTER TABLE "connection" DROP CONSTRAINT "connection_agent_id_fkey";
ALTER TABLE "secret" DROP CONSTRAINT "secret_agent_id_fkey";
ALTER TABLE "suppression" DROP CONSTRAINT "suppression_agent_id_fkey";
ALTER TABLE "access" DROP CONSTRAINT "access_agent_id_fkey";

ALTER TABLE "message_search" ALTER COLUMN "agent_id" SET NOT NULL;
ALTER TABLE "message_search" DROP CONSTRAINT "message_search_agent_id_check";
ALTER TABLE "message_raw" ALTER COLUMN "agent_id" SET NOT NULL;
ALTER TABLE "message_raw" DROP CONSTRAINT "message_raw_agent_id_check";
ALTER TABLE "attachment" ALTER COLUMN "agent_id" SET NOT NULL;
ALTER TABLE "attachment" DROP CONSTRAINT "attachment_agent_id_check";
ALTER TABLE "recipient" ALTER COLUMN "agent_id" SET NOT NULL;
ALTER TABLE "recipient" DROP CONSTRAINT "recipient_agent_id_check";

-- The agents of these are no longer known. They are gone within minutes, and nothing looks for them by agent.
UPDATE "webhook_farewell" SET "agent_id" = '00000000-0000-0000-0000-000000000000' WHERE "agent_id" IS NULL;
ALTER TABLE "webhook_farewell" ALTER COLUMN "agent_id" SET NOT NULL;

ALTER TABLE "message" DROP CONSTRAINT "message_pkey",
  ADD CONSTRAINT "message_pkey" PRIMARY KEY USING INDEX "message_id_agent_id_key";
ALTER TABLE "message_search" DROP CONSTRAINT "message_search_pkey",
  ADD CONSTRAINT "message_search_pkey" PRIMARY KEY USING INDEX "message_search_message_id_agent_id_key";
ALTER TABLE "unindexed_message" DROP CONSTRAINT "unindexed_message_pkey",
  ADD CONSTRAINT "unindexed_message_pkey" PRIMARY KEY USING INDEX "unindexed_message_agent_id_message_id_key";
ALTER TABLE "message_raw" DROP CONSTRAINT "message_raw_pkey",
  ADD CONSTRAINT "message_raw_pkey" PRIMARY KEY USING INDEX "message_raw_message_id_agent_id_key";
ALTER TABLE "attachment" DROP CONSTRAINT "attachment_pkey",
  ADD CONSTRAINT "attachment_pkey" PRIMARY KEY USING INDEX "attachment_message_id_index_agent_id_key";
ALTER TABLE "recipient" DROP CONSTRAINT "recipient_pkey",
  ADD CONSTRAINT "recipient_pkey" PRIMARY KEY USING INDEX "recipient_message_id_address_agent_id_key";
ALTER TABLE "connection" DROP CONSTRAINT "connection_pkey",
  ADD CONSTRAINT "connection_pkey" PRIMARY KEY USING INDEX "connection_id_agent_id_key";
ALTER TABLE "webhook" DROP CONSTRAINT "webhook_pkey",
  ADD CONSTRAINT "webhook_pkey" PRIMARY KEY USING INDEX "webhook_id_agent_id_key";
ALTER TABLE "webhook_farewell" DROP CONSTRAINT "webhook_farewell_pkey",
  ADD CONSTRAINT "webhook_farewell_pkey" PRIMARY KEY USING INDEX "webhook_farewell_id_agent_id_key";
ALTER TABLE "job" DROP CONSTRAINT "job_pkey",
  ADD CONSTRAINT "job_pkey" PRIMARY KEY USING INDEX "job_id_agent_id_key";

DROP INDEX "webhook_subscription_key";
DROP INDEX "job_lane_seq_key";
-- The new key begins with the agent.
DROP INDEX "unindexed_message_agent_id_idx";

ALTER TABLE "message" ADD CONSTRAINT "message_agent_id_fkey"
  FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "event_log" ADD CONSTRAINT "event_log_agent_id_fkey"
  FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "event" ADD CONSTRAINT "event_agent_id_fkey"
  FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "job" ADD CONSTRAINT "job_agent_id_fkey"
  FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "webhook" ADD CONSTRAINT "webhook_agent_id_fkey"
  FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "connection" ADD CONSTRAINT "connection_agent_id_fkey"
  FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "secret" ADD CONSTRAINT "secret_agent_id_fkey"
  FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "suppression" ADD CONSTRAINT "suppression_agent_id_fkey"
  FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "access" ADD CONSTRAINT "access_agent_id_fkey"
  FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "message_search" ADD CONSTRAINT "message_search_message_id_agent_id_fkey"
  FOREIGN KEY ("message_id", "agent_id") REFERENCES "message"("id", "agent_id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "message_raw" ADD CONSTRAINT "message_raw_message_id_agent_id_fkey"
  FOREIGN KEY ("message_id", "agent_id") REFERENCES "message"("id", "agent_id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "attachment" ADD CONSTRAINT "attachment_message_id_agent_id_fkey"
  FOREIGN KEY ("message_id", "agent_id") REFERENCES "message"("id", "agent_id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "recipient" ADD CONSTRAINT "recipient_message_id_agent_id_fkey"
  FOREIGN KEY ("message_id", "agent_id") REFERENCES "message"("id", "agent_id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "message" ADD CONSTRAINT "message_reply_to_id_agent_id_fkey"
  FOREIGN KEY ("reply_to_id", "agent_id") REFERENCES "message"("id", "agent_id") ON DELETE NO ACTION ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "message" ADD CONSTRAINT "message_forward_of_id_agent_id_fkey"
  FOREIGN KEY ("forward_of_id", "agent_id") REFERENCES "message"("id", "agent_id") ON DELETE NO ACTION ON UPDATE NO ACTION NOT VALID;
