-- Recipients of a sent email whom no copy of it names.
ALTER TABLE "message" ADD COLUMN "bcc" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[];

-- Values that programs keep with messages and agents.
ALTER TABLE "message" ADD COLUMN "metadata" JSONB NOT NULL DEFAULT '{}';
ALTER TABLE "agent" ADD COLUMN "metadata" JSONB NOT NULL DEFAULT '{}';
