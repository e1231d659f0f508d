-- Until when a key is reserved for a request that does something outside its transaction.
ALTER TABLE "idempotency_key" ADD COLUMN "lease_until" TIMESTAMPTZ(3);
