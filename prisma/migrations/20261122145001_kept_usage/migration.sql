-- What a workspace uses of its plan is kept instead of counted: changes, and the totals that a worker adds them to.
CREATE TABLE "usage_change" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "agent_id" UUID NOT NULL,
    "agents" INTEGER NOT NULL DEFAULT 0,
    "webhooks" INTEGER NOT NULL DEFAULT 0,
    "stored" INTEGER NOT NULL DEFAULT 0,
    "sent" INTEGER NOT NULL DEFAULT 0,
    "sent_at" TIMESTAMPTZ(3),

    CONSTRAINT "usage_change_pkey" PRIMARY KEY ("workspace_id","id","agent_id")
);

CREATE TABLE "workspace_usage" (
    "workspace_id" UUID NOT NULL,
    "minute" TIMESTAMPTZ(3) NOT NULL,
    "agents" INTEGER NOT NULL DEFAULT 0,
    "webhooks" INTEGER NOT NULL DEFAULT 0,
    "stored" BIGINT NOT NULL DEFAULT 0,
    "sent" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "workspace_usage_pkey" PRIMARY KEY ("workspace_id","minute")
);

ALTER TABLE "workspace_usage" ADD CONSTRAINT "workspace_usage_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- A queue: short, and always changing.
ALTER TABLE "usage_change" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
ALTER TABLE "workspace_usage" SET (fillfactor = 50);

INSERT INTO "workspace_usage" ("workspace_id", "minute", "agents", "webhooks", "stored")
SELECT w."id", 'epoch',
       (SELECT count(*) FROM "agent" a WHERE a."workspace_id" = w."id"),
       (SELECT count(*) FROM "webhook" h WHERE h."workspace_id" = w."id" AND h."kind" = 'webhook'),
       (SELECT count(*) FROM "message" m WHERE m."workspace_id" = w."id")
         - (SELECT count(*) FROM "message" m WHERE m."workspace_id" = w."id" AND m."status" = 'refused')
  FROM "workspace" w;

INSERT INTO "workspace_usage" ("workspace_id", "minute", "sent")
SELECT m."workspace_id", date_trunc('minute', m."created_at"), count(*)
  FROM "workspace" w JOIN "message" m ON m."workspace_id" = w."id" AND m."created_at" > now() - interval '1 day'
 WHERE m."direction" = 'outbound'
 GROUP BY 1, 2;
