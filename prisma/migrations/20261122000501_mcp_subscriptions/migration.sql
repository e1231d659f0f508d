-- MCP clients' subscriptions are lanes like webhooks. The columns have defaults that a build before this one leaves as they are.
CREATE TYPE "WebhookKind" AS ENUM ('webhook', 'mcp');

ALTER TABLE "webhook" ADD COLUMN "kind" "WebhookKind" NOT NULL DEFAULT 'webhook',
ADD COLUMN "types" TEXT[] DEFAULT ARRAY['message.received']::TEXT[],
ADD COLUMN "channels" "Channel"[] DEFAULT ARRAY[]::"Channel"[],
ADD COLUMN "subscription" TEXT,
ADD COLUMN "principal_id" UUID,
ADD COLUMN "token_id" UUID,
ADD COLUMN "expires_at" TIMESTAMPTZ(3),
ADD COLUMN "verified_at" TIMESTAMPTZ(3);

CREATE INDEX "webhook_agent_id_idx" ON "webhook"("agent_id");
CREATE INDEX "webhook_principal_id_idx" ON "webhook"("principal_id");
CREATE INDEX "webhook_token_id_idx" ON "webhook"("token_id");
CREATE UNIQUE INDEX "webhook_subscription_key" ON "webhook"("subscription");

-- An agent has a URL once as a webhook; clients may subscribe with the same one, each with arguments of its own.
DROP INDEX "webhook_agent_id_url_key";
CREATE UNIQUE INDEX "webhook_agent_id_url_key" ON "webhook"("agent_id", "url") WHERE "kind" = 'webhook';

ALTER TABLE "webhook" ADD CONSTRAINT "webhook_token_id_fkey" FOREIGN KEY ("token_id") REFERENCES "token"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "webhook_farewell" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "url" TEXT NOT NULL,
    "secret" BYTEA NOT NULL,
    "previous_secret" BYTEA,
    "previous_until" TIMESTAMPTZ(3),
    "subscription" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "webhook_farewell_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "webhook_farewell_due_at_idx" ON "webhook_farewell"("due_at");

-- A subscription goes with its token or its agent, whoever deletes those, and its receiver is told. One that was given up by its client,
-- or ran out, ends without a word.
CREATE FUNCTION "say_farewell"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "job" WHERE "lane" = OLD."id";
  IF OLD."expires_at" > now() THEN
    INSERT INTO "webhook_farewell" ("id", "workspace_id", "url", "secret", "previous_secret", "previous_until", "subscription")
    VALUES (OLD."id", OLD."workspace_id", OLD."url", OLD."secret", OLD."previous_secret", OLD."previous_until", OLD."subscription")
    ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER "webhook_farewell" AFTER DELETE ON "webhook" FOR EACH ROW WHEN (OLD."kind" = 'mcp') EXECUTE FUNCTION "say_farewell"();
