-- Where the import of a folder of an IMAP account continues.
CREATE TABLE "import_position" (
    "agent_id" UUID NOT NULL,
    "source" TEXT NOT NULL,
    "position" TEXT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "import_position_pkey" PRIMARY KEY ("agent_id","source")
);

ALTER TABLE "import_position" ADD CONSTRAINT "import_position_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE NO ACTION;
