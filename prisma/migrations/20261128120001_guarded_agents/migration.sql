-- Agents that have secrets already. Running it again changes nothing.
-- no-transaction
UPDATE agent a SET guard_version = 1 WHERE a.guard_version = 0 AND EXISTS (SELECT FROM secret s WHERE s.agent_id = a.id);
