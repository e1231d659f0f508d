-- CreateTable
CREATE TABLE "connected_app" (
    "token_id" UUID NOT NULL,
    "member_id" UUID NOT NULL,
    "client_id" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "connected_app_pkey" PRIMARY KEY ("token_id")
);

-- CreateTable
CREATE TABLE "oauth_record" (
    "kind" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,
    "app_id" UUID,
    "payload" JSONB NOT NULL,
    "consumed_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "oauth_record_pkey" PRIMARY KEY ("hash","kind")
);

-- CreateIndex
CREATE INDEX "connected_app_member_id_idx" ON "connected_app"("member_id");

-- CreateIndex
CREATE INDEX "connected_app_client_id_idx" ON "connected_app"("client_id");

-- CreateIndex
CREATE INDEX "oauth_record_app_id_idx" ON "oauth_record"("app_id");

-- CreateIndex
CREATE INDEX "oauth_record_expires_at_idx" ON "oauth_record"("expires_at");

-- AddForeignKey
ALTER TABLE "connected_app" ADD CONSTRAINT "connected_app_token_id_fkey" FOREIGN KEY ("token_id") REFERENCES "token"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "connected_app" ADD CONSTRAINT "connected_app_member_id_fkey" FOREIGN KEY ("member_id") REFERENCES "member"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "oauth_record" ADD CONSTRAINT "oauth_record_app_id_fkey" FOREIGN KEY ("app_id") REFERENCES "connected_app"("token_id") ON DELETE CASCADE ON UPDATE CASCADE;
