-- Columns that are null in rows that exist: no table is rewritten.
CREATE TYPE "Addressed" AS ENUM ('to', 'cc', 'bcc');
ALTER TABLE message ADD COLUMN conversation TEXT, ADD COLUMN addressed "Addressed";
ALTER TABLE thread_state ADD COLUMN conversation TEXT;
