/**
 * PostgreSQL's settings, given on its command line so that an upgrade of the service brings its own. What is
 * not here is PostgreSQL's default, first of all fsync, full_page_writes and synchronous_commit: what was
 * acknowledged has reached the disk.
 */
const settings: Record<string, string> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '', // a socket's path may have 107 bytes; DATA_DIR may have more
  max_connections: '100',
  shared_buffers: '256MB', // touched only as far as it is needed
  max_wal_size: '2GB', // fewer forced checkpoints under load, each of which makes commits wait for the disk
  wal_compression: 'on', // full page images are most of the log after a checkpoint
  random_page_cost: '1.1', // no disk that this will meet has a seek time of four
  jit: 'off', // compiling costs more than any query of ours runs
  max_parallel_workers_per_gather: '0', // short queries only; and containers give /dev/shm 64 MB
  autovacuum_naptime: '15s', // the job table turns over quickly
  timezone: 'UTC',
  log_timezone: 'UTC',
  // The log is read by people who may see no message: neither a failed statement nor the DETAIL with a row's
  // values goes into it.
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
}

/** `extra` (name → value) goes over the settings above. */
export const postgresArguments = (extra: Record<string, string>): string[] =>
  Object.entries({ ...settings, ...extra }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
