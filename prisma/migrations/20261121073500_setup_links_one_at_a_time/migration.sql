-- Until when a link is being used: what is bought for it meanwhile is bought once.
ALTER TABLE "setup_link" ADD COLUMN "busy_until" TIMESTAMPTZ(3);
