-- no-transaction
-- The key that is looked up, with the agent first: it also finds the jobs of an agent, for which there was a further index.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "job_agent_id_lane_seq_key" ON "job"("agent_id", "lane", "seq");

-- no-transaction
DROP INDEX CONCURRENTLY IF EXISTS "job_lane_seq_agent_id_key";

-- no-transaction
DROP INDEX CONCURRENTLY IF EXISTS "job_agent_id_idx";

-- no-transaction
-- Recording an attempt makes the row half as long again. With 60, two rows in five found no room in their page, and
-- each of these had to be entered into all indexes again.
ALTER TABLE "job" SET (fillfactor = 40);
