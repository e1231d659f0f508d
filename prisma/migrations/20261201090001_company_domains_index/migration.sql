-- no-transaction
-- Whoever signs in with a company's account names an address; its domain names the workspace.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "company_sign_in_domains_idx" ON "company_sign_in" USING GIN ("domains");
