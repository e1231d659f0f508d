-- AlterTable
ALTER TABLE "plan" ADD COLUMN     "phone_numbers" INTEGER;

-- Each number costs whoever runs the service money every month.
UPDATE "plan" SET "phone_numbers" = 10 WHERE "key" = 'team';
UPDATE "plan" SET "phone_numbers" = 1 WHERE "key" = 'free';
