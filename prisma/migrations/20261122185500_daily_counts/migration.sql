-- What is counted per day, for each agent and for each workspace. Changes arrive with those of the usage.
ALTER TABLE "usage_change" ADD COLUMN "day" DATE, ADD COLUMN "metric" TEXT, ADD COLUMN "count" INTEGER NOT NULL DEFAULT 0;

CREATE TABLE "agent_day" (
    "agent_id" UUID NOT NULL,
    "day" DATE NOT NULL,
    "metric" TEXT NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "agent_day_pkey" PRIMARY KEY ("agent_id", "day", "metric")
);
CREATE INDEX "agent_day_day_idx" ON "agent_day"("day");
ALTER TABLE "agent_day" ADD CONSTRAINT "agent_day_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

CREATE TABLE "workspace_day" (
    "workspace_id" UUID NOT NULL,
    "day" DATE NOT NULL,
    "metric" TEXT NOT NULL,
    "count" BIGINT NOT NULL,

    CONSTRAINT "workspace_day_pkey" PRIMARY KEY ("workspace_id", "day", "metric")
);
CREATE INDEX "workspace_day_day_idx" ON "workspace_day"("day");
ALTER TABLE "workspace_day" ADD CONSTRAINT "workspace_day_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE CASCADE ON UPDATE CASCADE;
