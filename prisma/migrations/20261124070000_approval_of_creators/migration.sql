-- Agents that agents created before limits were passed on: their messages need the approval that those of their creators
-- need, unless a member chose something else for them. Running it again changes nothing.
-- no-transaction
WITH RECURSIVE bound AS (
  SELECT id, approval FROM agent WHERE approval <> 'none'
  UNION
  SELECT c.id, greatest(c.approval, b.approval)
    FROM bound b JOIN agent c ON c.created_by_agent_id = b.id
   WHERE NOT EXISTS (SELECT FROM audit_entry e WHERE e.agent_id = c.id AND e.action = 'agent.approval' AND e.actor_kind = 'member')
)
UPDATE agent a SET approval = m.approval
  FROM (SELECT id, max(approval) AS approval FROM bound GROUP BY id) m
 WHERE a.id = m.id AND a.approval < m.approval;
