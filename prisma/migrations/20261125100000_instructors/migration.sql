-- Whose proven messages may instruct an agent, and as whom the sender of a message was proven. Senders of earlier messages
-- may not instruct.
CREATE TYPE "Instructors" AS ENUM ('none', 'members', 'listed');
ALTER TABLE "agent" ADD COLUMN "instructors" "Instructors" NOT NULL DEFAULT 'members';
ALTER TABLE "message" ADD COLUMN "instructor" "Instructors";
