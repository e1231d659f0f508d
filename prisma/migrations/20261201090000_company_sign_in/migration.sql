-- Members may sign in with the OpenID provider of their company.
CREATE TABLE IF NOT EXISTS "company_sign_in" (
    "workspace_id" UUID NOT NULL,
    "issuer" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "client_secret" BYTEA NOT NULL,
    "domains" TEXT[],
    "role" "MemberRole" NOT NULL DEFAULT 'member',
    "required" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "company_sign_in_pkey" PRIMARY KEY ("workspace_id"),
    CONSTRAINT "company_sign_in_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE TABLE IF NOT EXISTS "company_identity" (
    "member_id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "issuer" TEXT NOT NULL,
    "subject" TEXT NOT NULL,

    CONSTRAINT "company_identity_pkey" PRIMARY KEY ("member_id"),
    CONSTRAINT "company_identity_member_id_fkey" FOREIGN KEY ("member_id") REFERENCES "member"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX IF NOT EXISTS "company_identity_workspace_id_issuer_subject_key" ON "company_identity"("workspace_id", "issuer", "subject");

ALTER TABLE "session" ADD COLUMN IF NOT EXISTS "company_sid" TEXT;
