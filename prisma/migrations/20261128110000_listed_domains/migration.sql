-- Entries of lists have the form of addresses, whose domains are in A-labels: those of the first release had them as they were
-- given. Running it again changes nothing.
-- no-transaction
DO $$
DECLARE
  listed record;
  new_senders text[];
  new_member_senders text[];
  new_blocked text[];
  missed boolean;
BEGIN
  -- Punycode (RFC 3492).
  CREATE OR REPLACE FUNCTION a_label(label text) RETURNS text LANGUAGE plpgsql AS $label$
  DECLARE
    points int[] := array(SELECT ascii(c) FROM string_to_table(label, NULL) c);
    digits text := 'abcdefghijklmnopqrstuvwxyz0123456789';
    done int := (SELECT count(*) FROM unnest(points) p WHERE p < 128);
    plain int := done;
    made text := (SELECT coalesce(string_agg(chr(p), '' ORDER BY n), '') FROM unnest(points) WITH ORDINALITY u(p, n) WHERE p < 128);
    bound int := 128;
    bias int := 72;
    delta int := 0;
    point int;
    q int;
    k int;
    t int;
  BEGIN
    IF done = cardinality(points) THEN RETURN label; END IF;
    IF done > 0 THEN made := made || '-'; END IF;
    WHILE done < cardinality(points) LOOP
      point := (SELECT min(p) FROM unnest(points) p WHERE p >= bound);
      delta := delta + (point - bound) * (done + 1);
      bound := point;
      FOREACH point IN ARRAY points LOOP
        IF point < bound THEN delta := delta + 1; END IF;
        CONTINUE WHEN point <> bound;
        q := delta;
        k := 36;
        LOOP
          t := least(greatest(k - bias, 1), 26);
          EXIT WHEN q < t;
          made := made || substr(digits, t + (q - t) % (36 - t) + 1, 1);
          q := (q - t) / (36 - t);
          k := k + 36;
        END LOOP;
        made := made || substr(digits, q + 1, 1);
        delta := CASE WHEN done = plain THEN delta / 700 ELSE delta / 2 END;
        delta := delta + delta / (done + 1);
        k := 0;
        WHILE delta > 455 LOOP
          delta := delta / 35;
          k := k + 36;
        END LOOP;
        bias := k + 36 * delta / (delta + 38);
        delta := 0;
        done := done + 1;
      END LOOP;
      delta := delta + 1;
      bound := bound + 1;
    END LOOP;
    RETURN 'xn--' || made;
  END $label$;

  CREATE OR REPLACE FUNCTION in_a_labels(entries text[]) RETURNS text[] LANGUAGE sql AS $entries$
    SELECT array(
      SELECT entry FROM (
        SELECT normalize(split_part(given, '@', 1), NFC) || '@' || (
                 SELECT string_agg(a_label(label), '.' ORDER BY place)
                   FROM string_to_table(lower(normalize(replace(split_part(given, '@', 2), U&'\3002', '.'), NFKC)), '.')
                          WITH ORDINALITY labels(label, place)) AS entry, n
          FROM unnest(entries) WITH ORDINALITY each_one(given, n)
      ) converted GROUP BY entry ORDER BY min(n))
  $entries$;

  -- Values alone are stored: Citus takes no function in an UPDATE. A list that an earlier release changes meanwhile is
  -- converted as it is then.
  LOOP
    missed := false;
    FOR listed IN
      SELECT agent_id, senders, member_senders, blocked FROM access
       WHERE channel = 'email' AND array_to_string(senders || member_senders || blocked, ' ') ~ '[^\x01-\x7f]'
    LOOP
      new_senders := in_a_labels(listed.senders);
      new_member_senders := in_a_labels(listed.member_senders);
      new_blocked := in_a_labels(listed.blocked);
      UPDATE access SET senders = new_senders, member_senders = new_member_senders, blocked = new_blocked
       WHERE agent_id = listed.agent_id AND channel = 'email' AND senders = listed.senders
         AND member_senders = listed.member_senders AND blocked = listed.blocked;
      missed := missed OR NOT FOUND;
    END LOOP;
    EXIT WHEN NOT missed;
  END LOOP;
  DROP FUNCTION in_a_labels(text[]), a_label(text);
END $$;
