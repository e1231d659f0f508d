-- Senders that a channel refuses, whoever else it admits.
ALTER TABLE "access" ADD COLUMN "blocked" TEXT[] DEFAULT ARRAY[]::TEXT[];
