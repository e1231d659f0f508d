-- Full-text search over messages. An expression, which schema.prisma has no words for; src/message/list.ts repeats it to the letter.
-- Cut because PostgreSQL refuses more than 1 MB of words in one text.
CREATE INDEX "message_search_idx" ON "message" USING gin (
  to_tsvector('simple', left(coalesce("subject", '') || ' ' || "counterpart" || ' ' || coalesce("counterpart_name", '') || ' ' || "text", 100000))
);
