-- The other ways to sign in. The tables are new, so their foreign keys lock "member" only for a moment.
ALTER TABLE "workspace" ADD COLUMN "require_passkeys" BOOLEAN NOT NULL DEFAULT false;

CREATE TABLE "sign_in_link" (
    "hash" BYTEA NOT NULL,
    "member_id" UUID NOT NULL,
    "browser_hash" BYTEA,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "sign_in_link_pkey" PRIMARY KEY ("hash")
);
CREATE INDEX "sign_in_link_member_id_idx" ON "sign_in_link"("member_id");
CREATE INDEX "sign_in_link_expires_at_idx" ON "sign_in_link"("expires_at");
ALTER TABLE "sign_in_link" ADD CONSTRAINT "sign_in_link_member_id_fkey"
  FOREIGN KEY ("member_id") REFERENCES "member"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "passkey" (
    "id" UUID NOT NULL,
    "member_id" UUID NOT NULL,
    "credential_id" BYTEA NOT NULL,
    "public_key" BYTEA NOT NULL,
    "counter" BIGINT NOT NULL DEFAULT 0,
    "transports" TEXT[],
    "name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3),
    "challenged_at" TIMESTAMPTZ(3),

    CONSTRAINT "passkey_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "passkey_credential_id_key" ON "passkey"("credential_id");
CREATE INDEX "passkey_member_id_idx" ON "passkey"("member_id");
ALTER TABLE "passkey" ADD CONSTRAINT "passkey_member_id_fkey"
  FOREIGN KEY ("member_id") REFERENCES "member"("id") ON DELETE CASCADE ON UPDATE CASCADE;
