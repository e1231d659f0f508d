-- How far a purchase has come. The default is for rows that were there and for those of an earlier build: their provider was asked.
ALTER TABLE "phone_number"
  ADD COLUMN "asked_at" TIMESTAMPTZ(3) DEFAULT now(),
  ADD COLUMN "busy_until" TIMESTAMPTZ(3),
  ADD COLUMN "buyer" JSONB;
