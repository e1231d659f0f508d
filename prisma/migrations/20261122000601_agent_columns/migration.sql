-- Everything that belongs to an agent gets agent_id in its keys, so that it can be distributed by it. In four steps, none of which holds
-- a lock for long: new columns (this one); their values and the new indexes, beside running services; the keys, swapped; the foreign
-- keys, validated.
ALTER TABLE "message_search" ADD COLUMN "agent_id" UUID;
ALTER TABLE "message_raw" ADD COLUMN "agent_id" UUID;
ALTER TABLE "attachment" ADD COLUMN "agent_id" UUID;
ALTER TABLE "recipient" ADD COLUMN "agent_id" UUID;
ALTER TABLE "webhook_farewell" ADD COLUMN "agent_id" UUID;
