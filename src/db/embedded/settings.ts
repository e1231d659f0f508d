/**
 * PostgreSQL's settings, given on its command line so that an upgrade of the service also changes them. All
 * others have PostgreSQL's defaults, above all fsync, full_page_writes and synchronous_commit: what was
 * acknowledged is on disk.
 */
const settings: Record<string, string> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '', // a socket's path is limited to 107 bytes, and DATA_DIR may be longer
  max_connections: '100',
  shared_buffers: '256MB', // used only as far as needed
  max_wal_size: '2GB', // fewer forced checkpoints under load, each of which makes commits wait for the disk
  wal_compression: 'on', // full page images are most of the log after a checkpoint
  random_page_cost: '1.1', // the default, 4, is for spinning disks
  jit: 'off', // compiling costs more than running any of our queries
  max_parallel_workers_per_gather: '0', // queries are short, and containers limit /dev/shm to 64 MB
  autovacuum_naptime: '15s', // the job table turns over quickly
  timezone: 'UTC',
  log_timezone: 'UTC',
  // People who read the log may not see messages, so it contains neither failed statements nor the DETAIL
  // with a row's values.
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
}

/** Returns the arguments for the settings above; `extra` (name → value) overrides them. */
export const postgresArguments = (extra: Record<string, string>): string[] =>
  Object.entries({ ...settings, ...extra }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
