ALTER TABLE "domain" ADD COLUMN "recheck_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
ADD COLUMN "failures" INTEGER NOT NULL DEFAULT 0;

CREATE INDEX "domain_recheck_at_idx" ON "domain"("recheck_at");

-- Whoever has proven to own a domain has it alone.
CREATE UNIQUE INDEX "domain_verified_name_key" ON "domain"("name") WHERE "state" = 'verified';
