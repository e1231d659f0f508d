-- What a token may be used for; null means everything that its holder may do. A token that was made with another one ends with it.
ALTER TABLE "token" ADD COLUMN "scopes" JSONB, ADD COLUMN "parent_id" UUID;
ALTER TABLE "token" ADD CONSTRAINT "token_parent_id_fkey" FOREIGN KEY ("parent_id") REFERENCES "token"("id") ON DELETE CASCADE ON UPDATE CASCADE NOT VALID;
ALTER TABLE "token" VALIDATE CONSTRAINT "token_parent_id_fkey";
