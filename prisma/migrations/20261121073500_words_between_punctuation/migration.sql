-- Search takes words out of texts in another way where they are more than ASCII: those texts go to the index again.
INSERT INTO "unindexed_message" ("message_id", "agent_id")
  SELECT "id", "agent_id" FROM "message"
   WHERE octet_length("text") <> length("text") OR octet_length("subject") <> length("subject")
      OR octet_length("counterpart_name") <> length("counterpart_name") OR octet_length("counterpart") <> length("counterpart")
ON CONFLICT DO NOTHING;

DELETE FROM "message_search" s USING "unindexed_message" u WHERE u."message_id" = s."message_id";
