-- no-transaction
-- What hangs on a message gets its agent: in batches, each committed, so that nobody waits for a row for long. After an interruption it
-- starts again and passes over what is done.
DO $$
DECLARE
  child TEXT;
  last UUID;
  until UUID;
BEGIN
  FOREACH child IN ARRAY ARRAY['message_search', 'message_raw', 'attachment', 'recipient'] LOOP
    last := '00000000-0000-0000-0000-000000000000';
    LOOP
      EXECUTE format('SELECT message_id FROM (SELECT message_id FROM %I WHERE message_id > $1 ORDER BY message_id LIMIT 5000) batch
                       ORDER BY message_id DESC LIMIT 1', child) INTO until USING last;
      EXIT WHEN until IS NULL;
      EXECUTE format('UPDATE %I c SET agent_id = m.agent_id FROM message m
                       WHERE c.message_id > $1 AND c.message_id <= $2 AND c.agent_id IS NULL AND m.id = c.message_id', child)
        USING last, until;
      COMMIT;
      last := until;
    END LOOP;
  END LOOP;
END $$;

-- no-transaction
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "message_id_agent_id_key" ON "message"("id", "agent_id");

-- no-transaction
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "message_search_message_id_agent_id_key" ON "message_search"("message_id", "agent_id");

-- no-transaction
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "unindexed_message_agent_id_message_id_key" ON "unindexed_message"("agent_id", "message_id");

-- no-transaction
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "message_raw_message_id_agent_id_key" ON "message_raw"("message_id", "agent_id");

-- no-transaction
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "attachment_message_id_index_agent_id_key" ON "attachment"("message_id", "index", "agent_id");

-- no-transaction
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "recipient_message_id_address_agent_id_key" ON "recipient"("message_id", "address", "agent_id");

-- no-transaction
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "connection_id_agent_id_key" ON "connection"("id", "agent_id");

-- no-transaction
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "webhook_id_agent_id_key" ON "webhook"("id", "agent_id");

-- no-transaction
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "webhook_subscription_agent_id_key" ON "webhook"("subscription", "agent_id");

-- no-transaction
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "webhook_farewell_id_agent_id_key" ON "webhook_farewell"("id", "agent_id");

-- no-transaction
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "job_id_agent_id_key" ON "job"("id", "agent_id");

-- no-transaction
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "job_lane_seq_agent_id_key" ON "job"("lane", "seq", "agent_id");

-- no-transaction
-- From here on no row is stored without its agent. What came in while the batches ran is filled in, and each table is read once to see
-- that none is left, under a lock that lets others write: the next migration can then say NOT NULL without reading them.
DO $$
DECLARE
  child TEXT;
BEGIN
  FOREACH child IN ARRAY ARRAY['message_search', 'message_raw', 'attachment', 'recipient'] LOOP
    SET LOCAL lock_timeout = '3s';
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT IF EXISTS %I, ADD CONSTRAINT %2$I CHECK (agent_id IS NOT NULL) NOT VALID',
                   child, child || '_agent_id_check');
    COMMIT;
    EXECUTE format('UPDATE %I c SET agent_id = m.agent_id FROM message m WHERE c.agent_id IS NULL AND m.id = c.message_id', child);
    COMMIT;
    EXECUTE format('ALTER TABLE %I VALIDATE CONSTRAINT %I', child, child || '_agent_id_check');
    COMMIT;
  END LOOP;
END $$;
