-- Where the provider was last told to hand over what is texted to a number: elsewhere once PUBLIC_URL has changed.
ALTER TABLE "phone_number" ADD COLUMN "webhook_url" TEXT NOT NULL DEFAULT '';
