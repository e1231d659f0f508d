-- How long refused messages are kept.
ALTER TABLE "workspace" ADD COLUMN "keep_refused_days" INTEGER NOT NULL DEFAULT 30;
ALTER TABLE "workspace" ADD CONSTRAINT "workspace_keep_refused_days_check" CHECK ("keep_refused_days" BETWEEN 1 AND 365);

-- When a counter's window ends, where it is longer than a minute.
ALTER TABLE "rate_count" ADD COLUMN "window_end" TIMESTAMPTZ(3);
