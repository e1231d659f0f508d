-- What happens to messages that hide or disguise something, or give orders to programs.
CREATE TYPE "Manipulated" AS ENUM ('accept', 'refuse');
ALTER TABLE "agent" ADD COLUMN "manipulated" "Manipulated" NOT NULL DEFAULT 'accept';
