-- Additional headers of a webhook's requests, encrypted, and a template of their body. Those of existing webhooks stay as they are.
ALTER TABLE "webhook" ADD COLUMN "headers" BYTEA,
ADD COLUMN "body" TEXT,
ADD COLUMN "format" INTEGER NOT NULL DEFAULT 0;
