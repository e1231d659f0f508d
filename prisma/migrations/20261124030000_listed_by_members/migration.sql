-- Those of the listed senders that a member listed: the agent may write to them without approval.
-- no-transaction
ALTER TABLE "access" ADD COLUMN IF NOT EXISTS "member_senders" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- What agents added to their lists is in the audit log; everything else counts as listed by a member. Running it again changes nothing.
-- no-transaction
WITH by_agents AS (
  SELECT DISTINCT e.agent_id, e.detail->>'channel' AS channel, s.sender
    FROM audit_entry e
    CROSS JOIN LATERAL jsonb_array_elements_text(CASE WHEN jsonb_typeof(e.detail#>'{senders,added}') = 'array' THEN e.detail#>'{senders,added}' ELSE '[]' END) AS s(sender)
   WHERE e.action = 'access.set' AND e.actor_kind = 'agent'
),
kept AS (
  SELECT a.agent_id, a.channel, array_agg(s.sender ORDER BY s.n) AS senders
    FROM access a
    CROSS JOIN LATERAL unnest(a.senders) WITH ORDINALITY AS s(sender, n)
    LEFT JOIN by_agents b ON b.agent_id = a.agent_id AND b.channel = a.channel::text AND b.sender = s.sender
   WHERE b.sender IS NULL
   GROUP BY a.agent_id, a.channel
)
UPDATE access a SET member_senders = kept.senders FROM kept
 WHERE a.agent_id = kept.agent_id AND a.channel = kept.channel AND a.member_senders = '{}';
