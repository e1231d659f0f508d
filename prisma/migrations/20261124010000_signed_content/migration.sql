-- Identifies the signed content of an email: a copy with other unsigned fields is the same message.
ALTER TABLE "message" ADD COLUMN "signed_content" BYTEA;
