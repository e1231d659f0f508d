-- What agents ask members.
CREATE TYPE "QuestionStatus" AS ENUM ('open', 'answered', 'expired', 'withdrawn');
CREATE TYPE "AnswerWay" AS ENUM ('app', 'email', 'telegram', 'sms', 'api');

CREATE TABLE "question" (
    "id" UUID NOT NULL,
    "agent_id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "text" TEXT NOT NULL,
    "options" TEXT[],
    "member_ids" UUID[],
    "status" "QuestionStatus" NOT NULL DEFAULT 'open',
    "answer_text" TEXT,
    "answered_by_id" UUID,
    "answered_by" TEXT,
    "answered_at" TIMESTAMPTZ(3),
    "answered_through" "AnswerWay",
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "question_pkey" PRIMARY KEY ("id","agent_id")
);
CREATE INDEX "question_agent_id_created_at_id_idx" ON "question"("agent_id", "created_at" DESC, "id" DESC);
CREATE INDEX "question_workspace_id_status_created_at_idx" ON "question"("workspace_id", "status", "created_at");
CREATE INDEX "question_status_expires_at_idx" ON "question"("status", "expires_at");
ALTER TABLE "question" ADD CONSTRAINT "question_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE NO ACTION;
