-- The agent that gets mail to addresses on a domain that no agent has. Of a deleted agent, the domain has none again.
ALTER TABLE "domain" ADD COLUMN "catch_all_agent_id" UUID;
ALTER TABLE "domain" ADD CONSTRAINT "domain_catch_all_agent_id_fkey" FOREIGN KEY ("catch_all_agent_id") REFERENCES "agent"("id")
  ON DELETE SET NULL ON UPDATE CASCADE NOT VALID;
ALTER TABLE "domain" VALIDATE CONSTRAINT "domain_catch_all_agent_id_fkey";
