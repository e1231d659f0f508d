-- Leases are renewed every 15 s: with room in its page, an update changes no index. Pages that exist are full until their rows move.
ALTER TABLE "connection" SET (fillfactor = 50);
