-- How the member signed in. Null in rows of earlier versions: then a workspace that requires passkeys limits the session.
-- no-transaction
ALTER TABLE "session" ADD COLUMN IF NOT EXISTS "way" TEXT;

-- The audit log knows it of the sessions that are there. Running it again changes nothing.
-- no-transaction
UPDATE session s SET way = e.detail->>'way'
  FROM audit_entry e
 WHERE e.action = 'session.create' AND e.detail->>'session' = s.token_id::text AND s.way IS NULL;
