-- Where an answer to a received message goes. Null in rows from before: to its counterpart.
ALTER TABLE "message" ADD COLUMN     "reply_address" TEXT;
