-- CreateTable
CREATE TABLE "tls_result" (
    "day" DATE NOT NULL,
    "domain" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "detail" JSONB NOT NULL,
    "count" INTEGER NOT NULL,
    "claimed_at" TIMESTAMPTZ(3),

    CONSTRAINT "tls_result_pkey" PRIMARY KEY ("day","domain","key")
);
