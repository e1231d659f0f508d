-- A new column without a default: nothing is rewritten, and older services go on.
ALTER TABLE "audit_entry" ADD COLUMN "request_id" UUID;
