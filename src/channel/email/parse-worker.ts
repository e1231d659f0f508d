import { parentPort } from 'node:worker_threads'
import { parseMail } from './parse.ts'

// The other side of parser.ts: one message at a time, its bytes handed over both ways, not copied.
parentPort?.on('message', async (raw: Uint8Array) => {
  const mail = await parseMail(raw)
  const buffers = new Set(mail.attachments.map(({ content }) => content.buffer as ArrayBuffer))
  parentPort?.postMessage(mail, [...buffers])
})
