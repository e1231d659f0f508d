-- Whether a member hears of agents' questions by email and in chats, besides the web application.
ALTER TABLE "member" ADD COLUMN "question_mails" BOOLEAN NOT NULL DEFAULT true;
