import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, listens } from '../support/port.ts'
import { until } from '../support/until.ts'
import { atEnd } from './cleanup.ts'

const NGINX = '/usr/sbin/nginx'
const MODULE = '/usr/lib/nginx/modules/ngx_nchan_module.so'

const settings = (dir: string, port: number) => `
load_module ${MODULE};
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
worker_processes 1;
pid ${dir}/pid;
error_log ${dir}/error.log crit;
events { worker_connections 8192; }
http {
  access_log off;
  keepalive_requests 1000000;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${dir}/${name};`).join(' ')}
  server {
    listen 127.0.0.1:${port};
    location ~ ^/pub/(.+)$ { nchan_publisher; nchan_channel_id $1; nchan_message_buffer_length 10; }
    location ~ ^/sub/(.+)$ { nchan_subscriber eventsource; nchan_channel_id $1; nchan_subscriber_first_message newest; }
  }
}
`

/** Returns the request for a stream of a channel. */
export const subscriberRequest = (channel: string): string =>
  `GET /sub/${channel} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n`

/** Starts nginx with nchan (one worker process), or returns why it cannot. */
export const startNchan = async (): Promise<{ port: number; pid: number } | { missing: string }> => {
  for (const file of [NGINX, MODULE])
    if (!existsSync(file))
      return { missing: `${file} is not installed (apt-get install nginx libnginx-mod-nchan)` }
  const dir = mkdtempSync(join(tmpdir(), 'ams-nchan-'))
  const port = await freePort()
  writeFileSync(join(dir, 'nginx.conf'), settings(dir, port))
  const child = spawn(NGINX, ['-c', join(dir, 'nginx.conf'), '-e', join(dir, 'error.log')], {
    stdio: 'ignore',
  })
  atEnd(async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await ended
    rmSync(dir, { recursive: true, force: true })
  })
  await until(() => listens(port))
  return { port, pid: child.pid! }
}
