-- Which workers there are, and the lock by which others see that they live. A worker of an earlier version has no row: its leases end by time.
CREATE TABLE "worker" (
    "id" UUID NOT NULL,
    "session" BIGINT NOT NULL,

    CONSTRAINT "worker_pkey" PRIMARY KEY ("id")
);
