-- CreateEnum
CREATE TYPE "Channel" AS ENUM ('email', 'sms', 'telegram', 'url');

-- CreateEnum
CREATE TYPE "Direction" AS ENUM ('inbound', 'outbound');

-- CreateEnum
CREATE TYPE "MessageStatus" AS ENUM ('received', 'refused', 'sending', 'sent', 'failed', 'imported', 'reported');

-- CreateEnum
CREATE TYPE "Refusal" AS ENUM ('self', 'spam', 'plan_limit', 'rate_limit', 'sender', 'outsider', 'unverified');

-- CreateEnum
CREATE TYPE "Admission" AS ENUM ('team', 'listed', 'anyone');

-- CreateEnum
CREATE TYPE "Admit" AS ENUM ('anyone', 'team', 'list');

-- CreateEnum
CREATE TYPE "MemberRole" AS ENUM ('owner', 'member');

-- CreateEnum
CREATE TYPE "DomainState" AS ENUM ('pending', 'verified', 'broken');

-- CreateEnum
CREATE TYPE "RecipientStatus" AS ENUM ('sending', 'sent', 'failed');

-- CreateEnum
CREATE TYPE "SuppressionReason" AS ENUM ('bounce', 'complaint');

-- CreateEnum
CREATE TYPE "JobKind" AS ENUM ('webhook', 'send');

-- CreateEnum
CREATE TYPE "JobState" AS ENUM ('pending', 'delivered', 'skipped', 'expired', 'failed');

-- CreateEnum
CREATE TYPE "ActorKind" AS ENUM ('operator', 'member', 'agent');

-- CreateTable
CREATE TABLE "plan" (
    "key" TEXT NOT NULL,
    "agents" INTEGER,
    "members" INTEGER,
    "own_domains" INTEGER,
    "webhooks" INTEGER,
    "sends_per_day" INTEGER,
    "stored_messages" INTEGER,
    "change_address" BOOLEAN NOT NULL DEFAULT true,

    CONSTRAINT "plan_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "workspace" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "plan_key" TEXT NOT NULL,
    "data_key" BYTEA NOT NULL,
    "agents_may_set_access" BOOLEAN NOT NULL DEFAULT true,
    "agents_may_create_agents" BOOLEAN NOT NULL DEFAULT true,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "workspace_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "member" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "email" TEXT NOT NULL,
    "name" TEXT,
    "role" "MemberRole" NOT NULL DEFAULT 'member',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "member_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "member_identity" (
    "member_id" UUID NOT NULL,
    "channel" "Channel" NOT NULL,
    "value" TEXT NOT NULL,
    "verified_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "member_identity_pkey" PRIMARY KEY ("member_id","channel","value")
);

-- CreateTable
CREATE TABLE "invitation" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "email" TEXT NOT NULL,
    "role" "MemberRole" NOT NULL DEFAULT 'member',
    "token_hash" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "accepted_at" TIMESTAMPTZ(3),

    CONSTRAINT "invitation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "token" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "member_id" UUID,
    "agent_id" UUID,
    "name" TEXT,
    "hash" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "token_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "idempotency_key" (
    "token_id" UUID NOT NULL,
    "key" TEXT NOT NULL,
    "request_hash" BYTEA NOT NULL,
    "status" INTEGER NOT NULL,
    "body" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "idempotency_key_pkey" PRIMARY KEY ("token_id","key")
);

-- CreateTable
CREATE TABLE "rate_count" (
    "key" TEXT NOT NULL,
    "window_start" TIMESTAMPTZ(3) NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "rate_count_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "audit_entry" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "agent_id" UUID,
    "actor_kind" "ActorKind" NOT NULL,
    "actor_id" UUID,
    "token_id" UUID,
    "action" TEXT NOT NULL,
    "detail" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "audit_entry_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "agent" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "icon" TEXT NOT NULL,
    "created_by_member_id" UUID,
    "created_by_agent_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "agent_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "address" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "agent_id" UUID NOT NULL,
    "channel" "Channel" NOT NULL,
    "value" TEXT NOT NULL,
    "domain_id" UUID,
    "primary" BOOLEAN NOT NULL DEFAULT false,
    "given" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "address_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "access" (
    "agent_id" UUID NOT NULL,
    "channel" "Channel" NOT NULL,
    "admit" "Admit" NOT NULL,
    "senders" TEXT[],

    CONSTRAINT "access_pkey" PRIMARY KEY ("agent_id","channel")
);

-- CreateTable
CREATE TABLE "connection" (
    "id" UUID NOT NULL,
    "agent_id" UUID NOT NULL,
    "token_id" UUID NOT NULL,
    "client" TEXT NOT NULL,
    "machine" TEXT NOT NULL,
    "start_after" BIGINT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "lease_until" TIMESTAMPTZ(3),
    "replaced_at" TIMESTAMPTZ(3),

    CONSTRAINT "connection_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "setup_link" (
    "id" UUID NOT NULL,
    "agent_id" UUID NOT NULL,
    "member_id" UUID,
    "channel" "Channel" NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "setup_link_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "domain" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "state" "DomainState" NOT NULL DEFAULT 'pending',
    "ownership_token" TEXT NOT NULL,
    "findings" JSONB NOT NULL DEFAULT '[]',
    "checked_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "domain_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "dkim_key" (
    "id" UUID NOT NULL,
    "workspace_id" UUID,
    "domain" TEXT NOT NULL,
    "selector" TEXT NOT NULL,
    "public_key" TEXT NOT NULL,
    "private_key" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "retired_at" TIMESTAMPTZ(3),

    CONSTRAINT "dkim_key_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "phone_number" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "value" TEXT NOT NULL,
    "provider_id" TEXT NOT NULL,
    "address_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "phone_number_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "telegram_bot" (
    "address_id" UUID NOT NULL,
    "bot_id" BIGINT NOT NULL,
    "token" BYTEA NOT NULL,
    "secret_hash" BYTEA NOT NULL,
    "last_update" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "telegram_bot_pkey" PRIMARY KEY ("address_id")
);

-- CreateTable
CREATE TABLE "suppression" (
    "agent_id" UUID NOT NULL,
    "channel" "Channel" NOT NULL,
    "recipient" TEXT NOT NULL,
    "reason" "SuppressionReason" NOT NULL,
    "detail" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "suppression_pkey" PRIMARY KEY ("agent_id","channel","recipient")
);

-- CreateTable
CREATE TABLE "opt_out" (
    "ours" TEXT NOT NULL,
    "theirs" TEXT NOT NULL,
    "keyword" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "opt_out_pkey" PRIMARY KEY ("ours","theirs")
);

-- CreateTable
CREATE TABLE "secret" (
    "agent_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "sealed" BYTEA NOT NULL,
    "set_by_kind" "ActorKind" NOT NULL,
    "set_by_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "secret_pkey" PRIMARY KEY ("agent_id","name")
);

-- CreateTable
CREATE TABLE "message" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "agent_id" UUID NOT NULL,
    "address_id" UUID NOT NULL,
    "channel" "Channel" NOT NULL,
    "direction" "Direction" NOT NULL,
    "status" "MessageStatus" NOT NULL,
    "refusal" "Refusal",
    "admission" "Admission",
    "error" TEXT,
    "counterpart" TEXT NOT NULL,
    "counterpart_name" TEXT,
    "to" TEXT[],
    "cc" TEXT[],
    "subject" TEXT,
    "text" TEXT NOT NULL,
    "reply_text" TEXT,
    "internet_message_id" TEXT,
    "thread_message_id" TEXT,
    "thread_references" TEXT[],
    "thread_id" UUID NOT NULL,
    "reply_to_id" UUID,
    "forward_of_id" UUID,
    "checks" JSONB NOT NULL DEFAULT '[]',
    "fingerprint" BYTEA,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "message_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "message_raw" (
    "message_id" UUID NOT NULL,
    "content" BYTEA NOT NULL,

    CONSTRAINT "message_raw_pkey" PRIMARY KEY ("message_id")
);

-- CreateTable
CREATE TABLE "attachment" (
    "message_id" UUID NOT NULL,
    "index" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "size" INTEGER NOT NULL,
    "content" BYTEA NOT NULL,

    CONSTRAINT "attachment_pkey" PRIMARY KEY ("message_id","index")
);

-- CreateTable
CREATE TABLE "recipient" (
    "message_id" UUID NOT NULL,
    "address" TEXT NOT NULL,
    "status" "RecipientStatus" NOT NULL DEFAULT 'sending',
    "detail" TEXT,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "recipient_pkey" PRIMARY KEY ("message_id","address")
);

-- CreateTable
CREATE TABLE "event_log" (
    "agent_id" UUID NOT NULL,
    "last_id" BIGINT NOT NULL DEFAULT 0,
    "horizon" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "event_log_pkey" PRIMARY KEY ("agent_id")
);

-- CreateTable
CREATE TABLE "event" (
    "agent_id" UUID NOT NULL,
    "id" BIGINT NOT NULL,
    "type" TEXT NOT NULL,
    "channel" "Channel" NOT NULL,
    "message_id" UUID NOT NULL,
    "sender" JSONB NOT NULL,
    "from" TEXT NOT NULL,
    "subject" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "event_pkey" PRIMARY KEY ("agent_id","id")
);

-- CreateTable
CREATE TABLE "webhook" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "agent_id" UUID NOT NULL,
    "url" TEXT NOT NULL,
    "secret" BYTEA NOT NULL,
    "previous_secret" BYTEA,
    "previous_until" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "position" BIGINT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "error" TEXT,
    "retry_at" TIMESTAMPTZ(3),
    "last_delivered_at" TIMESTAMPTZ(3),
    "lease_owner" UUID,
    "lease_until" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "job" (
    "id" UUID NOT NULL,
    "kind" "JobKind" NOT NULL,
    "state" "JobState" NOT NULL DEFAULT 'pending',
    "agent_id" UUID NOT NULL,
    "lane" UUID NOT NULL,
    "seq" BIGINT NOT NULL,
    "due_at" TIMESTAMPTZ(3),
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "log" JSONB NOT NULL DEFAULT '[]',
    "payload" BYTEA,
    "lease_owner" UUID,
    "lease_until" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "job_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "member_email_idx" ON "member"("email");

-- CreateIndex
CREATE UNIQUE INDEX "member_workspace_id_email_key" ON "member"("workspace_id", "email");

-- CreateIndex
CREATE INDEX "member_identity_channel_value_idx" ON "member_identity"("channel", "value");

-- CreateIndex
CREATE UNIQUE INDEX "invitation_token_hash_key" ON "invitation"("token_hash");

-- CreateIndex
CREATE UNIQUE INDEX "invitation_workspace_id_email_key" ON "invitation"("workspace_id", "email");

-- CreateIndex
CREATE UNIQUE INDEX "token_hash_key" ON "token"("hash");

-- CreateIndex
CREATE INDEX "token_agent_id_idx" ON "token"("agent_id");

-- CreateIndex
CREATE INDEX "token_member_id_idx" ON "token"("member_id");

-- CreateIndex
CREATE INDEX "token_workspace_id_idx" ON "token"("workspace_id");

-- CreateIndex
CREATE INDEX "idempotency_key_created_at_idx" ON "idempotency_key"("created_at");

-- CreateIndex
CREATE INDEX "rate_count_window_start_idx" ON "rate_count"("window_start");

-- CreateIndex
CREATE INDEX "audit_entry_workspace_id_created_at_idx" ON "audit_entry"("workspace_id", "created_at");

-- CreateIndex
CREATE INDEX "audit_entry_agent_id_created_at_idx" ON "audit_entry"("agent_id", "created_at");

-- CreateIndex
CREATE INDEX "agent_workspace_id_created_at_idx" ON "agent"("workspace_id", "created_at");

-- CreateIndex
CREATE INDEX "agent_created_by_agent_id_idx" ON "agent"("created_by_agent_id");

-- CreateIndex
CREATE INDEX "agent_created_by_member_id_idx" ON "agent"("created_by_member_id");

-- CreateIndex
CREATE INDEX "address_agent_id_channel_idx" ON "address"("agent_id", "channel");

-- CreateIndex
CREATE INDEX "address_workspace_id_idx" ON "address"("workspace_id");

-- CreateIndex
CREATE INDEX "address_domain_id_idx" ON "address"("domain_id");

-- CreateIndex
CREATE UNIQUE INDEX "address_channel_value_key" ON "address"("channel", "value");

-- CreateIndex
CREATE INDEX "connection_agent_id_created_at_idx" ON "connection"("agent_id", "created_at");

-- CreateIndex
CREATE INDEX "connection_token_id_idx" ON "connection"("token_id");

-- CreateIndex
CREATE UNIQUE INDEX "setup_link_token_hash_key" ON "setup_link"("token_hash");

-- CreateIndex
CREATE INDEX "setup_link_agent_id_idx" ON "setup_link"("agent_id");

-- CreateIndex
CREATE INDEX "setup_link_member_id_idx" ON "setup_link"("member_id");

-- CreateIndex
CREATE INDEX "domain_name_idx" ON "domain"("name");

-- CreateIndex
CREATE UNIQUE INDEX "domain_workspace_id_name_key" ON "domain"("workspace_id", "name");

-- CreateIndex
CREATE UNIQUE INDEX "dkim_key_domain_selector_workspace_id_key" ON "dkim_key"("domain", "selector", "workspace_id");

-- CreateIndex
CREATE UNIQUE INDEX "phone_number_value_key" ON "phone_number"("value");

-- CreateIndex
CREATE UNIQUE INDEX "phone_number_address_id_key" ON "phone_number"("address_id");

-- CreateIndex
CREATE INDEX "phone_number_workspace_id_idx" ON "phone_number"("workspace_id");

-- CreateIndex
CREATE UNIQUE INDEX "telegram_bot_bot_id_key" ON "telegram_bot"("bot_id");

-- CreateIndex
CREATE INDEX "message_agent_id_created_at_id_idx" ON "message"("agent_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "message_agent_id_internet_message_id_idx" ON "message"("agent_id", "internet_message_id");

-- CreateIndex
CREATE INDEX "message_agent_id_thread_id_created_at_idx" ON "message"("agent_id", "thread_id", "created_at");

-- CreateIndex
CREATE INDEX "message_workspace_id_created_at_idx" ON "message"("workspace_id", "created_at");

-- CreateIndex
CREATE INDEX "event_created_at_idx" ON "event"("created_at");

-- CreateIndex
CREATE INDEX "webhook_workspace_id_idx" ON "webhook"("workspace_id");

-- CreateIndex
CREATE UNIQUE INDEX "webhook_agent_id_url_key" ON "webhook"("agent_id", "url");

-- CreateIndex
CREATE INDEX "job_agent_id_idx" ON "job"("agent_id");

-- CreateIndex
CREATE INDEX "job_created_at_idx" ON "job"("created_at");

-- CreateIndex
CREATE UNIQUE INDEX "job_lane_seq_key" ON "job"("lane", "seq");

-- AddForeignKey
ALTER TABLE "workspace" ADD CONSTRAINT "workspace_plan_key_fkey" FOREIGN KEY ("plan_key") REFERENCES "plan"("key") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "member" ADD CONSTRAINT "member_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "member_identity" ADD CONSTRAINT "member_identity_member_id_fkey" FOREIGN KEY ("member_id") REFERENCES "member"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "invitation" ADD CONSTRAINT "invitation_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "token" ADD CONSTRAINT "token_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "token" ADD CONSTRAINT "token_member_id_fkey" FOREIGN KEY ("member_id") REFERENCES "member"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "token" ADD CONSTRAINT "token_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "idempotency_key" ADD CONSTRAINT "idempotency_key_token_id_fkey" FOREIGN KEY ("token_id") REFERENCES "token"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "audit_entry" ADD CONSTRAINT "audit_entry_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent" ADD CONSTRAINT "agent_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent" ADD CONSTRAINT "agent_created_by_member_id_fkey" FOREIGN KEY ("created_by_member_id") REFERENCES "member"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent" ADD CONSTRAINT "agent_created_by_agent_id_fkey" FOREIGN KEY ("created_by_agent_id") REFERENCES "agent"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "address" ADD CONSTRAINT "address_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "address" ADD CONSTRAINT "address_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "address" ADD CONSTRAINT "address_domain_id_fkey" FOREIGN KEY ("domain_id") REFERENCES "domain"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "access" ADD CONSTRAINT "access_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "connection" ADD CONSTRAINT "connection_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "connection" ADD CONSTRAINT "connection_token_id_fkey" FOREIGN KEY ("token_id") REFERENCES "token"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "setup_link" ADD CONSTRAINT "setup_link_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "setup_link" ADD CONSTRAINT "setup_link_member_id_fkey" FOREIGN KEY ("member_id") REFERENCES "member"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "domain" ADD CONSTRAINT "domain_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "phone_number" ADD CONSTRAINT "phone_number_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "phone_number" ADD CONSTRAINT "phone_number_address_id_fkey" FOREIGN KEY ("address_id") REFERENCES "address"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "telegram_bot" ADD CONSTRAINT "telegram_bot_address_id_fkey" FOREIGN KEY ("address_id") REFERENCES "address"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "suppression" ADD CONSTRAINT "suppression_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "secret" ADD CONSTRAINT "secret_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "message" ADD CONSTRAINT "message_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "message" ADD CONSTRAINT "message_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "message" ADD CONSTRAINT "message_reply_to_id_fkey" FOREIGN KEY ("reply_to_id") REFERENCES "message"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "message" ADD CONSTRAINT "message_forward_of_id_fkey" FOREIGN KEY ("forward_of_id") REFERENCES "message"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "message_raw" ADD CONSTRAINT "message_raw_message_id_fkey" FOREIGN KEY ("message_id") REFERENCES "message"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "attachment" ADD CONSTRAINT "attachment_message_id_fkey" FOREIGN KEY ("message_id") REFERENCES "message"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "recipient" ADD CONSTRAINT "recipient_message_id_fkey" FOREIGN KEY ("message_id") REFERENCES "message"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "event_log" ADD CONSTRAINT "event_log_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "event" ADD CONSTRAINT "event_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook" ADD CONSTRAINT "webhook_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook" ADD CONSTRAINT "webhook_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "job" ADD CONSTRAINT "job_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What schema.prisma has no words for ------------------------------------------------------------------------------------------------

-- New messages on a channel go out from one address.
CREATE UNIQUE INDEX "address_primary_key" ON "address"("agent_id", "channel") WHERE "primary";

-- One client hears an agent's new messages.
CREATE UNIQUE INDEX "connection_current_key" ON "connection"("agent_id") WHERE "replaced_at" IS NULL;

-- The only question asked of all jobs: which messages are due. Webhook jobs have no due_at: their lane knows.
CREATE INDEX "job_due_at_idx" ON "job"("due_at") WHERE "due_at" IS NOT NULL;

-- The same mail, sent again because the answer got lost, is stored once.
CREATE UNIQUE INDEX "message_fingerprint_key" ON "message"("agent_id", "fingerprint") WHERE "fingerprint" IS NOT NULL;

-- For the foreign keys' sake. Few messages answer or pass on another: the others needn't be in the index.
CREATE INDEX "message_reply_to_id_idx" ON "message"("reply_to_id") WHERE "reply_to_id" IS NOT NULL;
CREATE INDEX "message_forward_of_id_idx" ON "message"("forward_of_id") WHERE "forward_of_id" IS NOT NULL;

-- Rows that are updated all the time, and never in an indexed column: room on their pages keeps such updates off the indices (HOT).
ALTER TABLE "event_log" SET (fillfactor = 50);
ALTER TABLE "webhook" SET (fillfactor = 50);
ALTER TABLE "job" SET (fillfactor = 60);

-- A token is a member's or an agent's own.
ALTER TABLE "token" ADD CONSTRAINT "token_holder_check" CHECK (num_nonnulls("member_id", "agent_id") = 1);
ALTER TABLE "address" ADD CONSTRAINT "address_channel_check" CHECK ("channel" <> 'url');
ALTER TABLE "message" ADD CONSTRAINT "message_channel_check" CHECK ("channel" <> 'url');
ALTER TABLE "message" ADD CONSTRAINT "message_refusal_check" CHECK (("status" = 'refused') = ("refusal" IS NOT NULL));

-- Counters that are worth less than their log.
ALTER TABLE "rate_count" SET UNLOGGED;
ALTER TABLE "rate_count" SET (fillfactor = 50);

-- Raw mail is mostly base64, which PostgreSQL's compressor spends its time on in vain.
ALTER TABLE "message_raw" ALTER COLUMN "content" SET STORAGE EXTERNAL;
ALTER TABLE "attachment" ALTER COLUMN "content" SET STORAGE EXTERNAL;

INSERT INTO "plan" ("key", "agents", "members", "own_domains", "webhooks", "sends_per_day", "stored_messages", "change_address") VALUES
  ('unlimited', NULL, NULL, NULL, NULL, NULL, NULL, true),
  ('team', 50, 20, 5, 100, 5000, 500000, true),
  ('free', 3, 3, 0, 3, 100, 5000, false);
