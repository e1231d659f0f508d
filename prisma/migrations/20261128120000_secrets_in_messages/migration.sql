-- What happens to messages that contain values of an agent's secrets. The version of its guard changes with everything that
-- decides it; 0 means that the agent has no secrets.
CREATE TYPE "SecretsInMessages" AS ENUM ('allow', 'hold', 'refuse');
ALTER TABLE "agent" ADD COLUMN "secrets_in_messages" "SecretsInMessages" NOT NULL DEFAULT 'refuse';
ALTER TABLE "agent" ADD COLUMN "guard_version" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "agent" ADD COLUMN "guard_holds_until" TIMESTAMPTZ(3);
