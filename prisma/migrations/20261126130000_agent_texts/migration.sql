-- An agent's signature and templates, each member's saved searches, and since when clients listen or do not.
CREATE TABLE "agent_texts" (
    "agent_id" UUID NOT NULL,
    "signature" TEXT,
    "templates" JSONB NOT NULL DEFAULT '[]',

    CONSTRAINT "agent_texts_pkey" PRIMARY KEY ("agent_id")
);
ALTER TABLE "agent_texts" ADD CONSTRAINT "agent_texts_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE NO ACTION;
ALTER TABLE "member" ADD COLUMN "views" JSONB NOT NULL DEFAULT '[]';
ALTER TABLE "connection" ADD COLUMN "changed_at" TIMESTAMPTZ(3);
ALTER TABLE "waiter" ADD COLUMN "waits_since" TIMESTAMPTZ(3);
