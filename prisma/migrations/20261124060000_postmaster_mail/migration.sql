-- CreateTable
CREATE TABLE "postmaster_mail" (
    "digest" BYTEA NOT NULL,
    "subject" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "due_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "postmaster_mail_pkey" PRIMARY KEY ("digest")
);
