-- Every address on the service's own domain that an agent ever had, and the workspace that it belongs to since. No foreign key: an
-- address stays its workspace's when the agent, and even the workspace, is gone. An address on a workspace's own domain is not in here:
-- it belongs to whoever has proven the domain.
CREATE TABLE "given_address" (
    "value" TEXT NOT NULL,
    "workspace_id" UUID NOT NULL,

    CONSTRAINT "given_address_pkey" PRIMARY KEY ("value")
);

-- The database itself keeps the record, whoever gives the address: an older build beside this one does not know of the table.
CREATE FUNCTION keep_given_address() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO given_address (value, workspace_id) VALUES (NEW.value, NEW.workspace_id) ON CONFLICT DO NOTHING;
  PERFORM FROM given_address WHERE value = NEW.value AND workspace_id = NEW.workspace_id;
  IF NOT FOUND THEN
    RAISE unique_violation USING MESSAGE = 'the address belongs to another workspace', TABLE = 'given_address', CONSTRAINT = 'given_address_pkey';
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER address_given AFTER INSERT OR UPDATE OF "value", "domain_id" ON "address"
  FOR EACH ROW WHEN (NEW."channel" = 'email' AND NEW."domain_id" IS NULL) EXECUTE FUNCTION keep_given_address();

INSERT INTO "given_address" ("value", "workspace_id")
  SELECT "value", "workspace_id" FROM "address" WHERE "channel" = 'email' AND "domain_id" IS NULL;

-- Addresses that nobody has any more, but that access lists still let in: they belong to the workspace that trusts them, the oldest one
-- where several do. Others were given up before anybody kept a record, and let nobody in anywhere.
INSERT INTO "given_address" ("value", "workspace_id")
  SELECT entry, g."workspace_id"
    FROM "access" a JOIN "agent" g ON g."id" = a."agent_id" CROSS JOIN LATERAL unnest(a."senders") AS entry
   WHERE a."channel" = 'email' AND entry NOT LIKE '*@%'
     AND split_part(entry, '@', 2) IN (SELECT DISTINCT split_part("value", '@', 2) FROM "given_address")
   ORDER BY g."created_at"
ON CONFLICT DO NOTHING;
