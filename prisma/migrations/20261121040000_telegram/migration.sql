-- AlterTable
ALTER TABLE "recipient" ADD COLUMN     "parts" TEXT[];

-- AlterTable
ALTER TABLE "setup_link" ADD COLUMN     "suggestion" TEXT;

-- AlterTable
ALTER TABLE "telegram_bot" DROP COLUMN "last_update",
ADD COLUMN     "webhook_url" TEXT NOT NULL;

-- CreateIndex
CREATE UNIQUE INDEX "setup_link_suggestion_key" ON "setup_link"("suggestion");

-- What an answer in a chat names is one of the parts of what it answers.
CREATE INDEX "recipient_parts_idx" ON "recipient" USING gin ("parts") WHERE "parts" IS NOT NULL;
