-- Who invited: an invitation ends with their membership. The audit knows it of those that are open; both tables' rows are few.
ALTER TABLE "invitation" ADD COLUMN "invited_by_id" UUID;
UPDATE "invitation" i SET "invited_by_id" = m."id"
  FROM "member" m
 WHERE i."accepted_at" IS NULL AND m."id" = (
   SELECT a."actor_id" FROM "audit_entry" a
    WHERE a."workspace_id" = i."workspace_id" AND a."created_at" > now() - interval '8 days' AND a."action" = 'member.invite'
      AND a."actor_kind" = 'member' AND a."detail"->>'email' = i."email"
    ORDER BY a."created_at" DESC LIMIT 1);
CREATE INDEX "invitation_invited_by_id_idx" ON "invitation"("invited_by_id");
ALTER TABLE "invitation" ADD CONSTRAINT "invitation_invited_by_id_fkey"
  FOREIGN KEY ("invited_by_id") REFERENCES "member"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The link that a removed member had asked for counted as the agent's own from then on.
ALTER TABLE "setup_link" DROP CONSTRAINT "setup_link_member_id_fkey";
ALTER TABLE "setup_link" ADD CONSTRAINT "setup_link_member_id_fkey"
  FOREIGN KEY ("member_id") REFERENCES "member"("id") ON DELETE CASCADE ON UPDATE CASCADE;
