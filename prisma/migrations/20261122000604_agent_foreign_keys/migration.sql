-- no-transaction
-- Reads the tables once more, under a lock that lets others write. Each constraint is committed by itself.
DO $$
DECLARE
  fkey RECORD;
BEGIN
  FOR fkey IN SELECT conrelid::regclass AS child, conname AS name FROM pg_constraint
               WHERE contype = 'f' AND NOT convalidated AND connamespace = current_schema()::regnamespace LOOP
    EXECUTE format('ALTER TABLE %s VALIDATE CONSTRAINT %I', fkey.child, fkey.name);
    COMMIT;
  END LOOP;
END $$;
