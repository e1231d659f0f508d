-- Browsers in which members are signed in. The table is new, so its foreign key locks "token" only for a moment.
CREATE TABLE "session" (
    "token_id" UUID NOT NULL,
    "browser" TEXT NOT NULL,
    "ends_at" TIMESTAMPTZ(3) NOT NULL,
    "enrolling" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "session_pkey" PRIMARY KEY ("token_id")
);
ALTER TABLE "session" ADD CONSTRAINT "session_token_id_fkey"
  FOREIGN KEY ("token_id") REFERENCES "token"("id") ON DELETE CASCADE ON UPDATE CASCADE;
