import { spawn } from 'node:child_process'
import type { Event } from '../index.ts'
import type { Message } from '../message.ts'
import { oneLine } from './terminal/terminal.ts'

/** What `ams listen` does with each message. */

/** An environment holds no NUL, and little text. */
const MAX_FIELD_LENGTH = 1000
const field = (text: string | null): string => oneLine(text ?? '').slice(0, MAX_FIELD_LENGTH)

export const fieldsOf = (
  agentId: string,
  { id, type, channel }: Event,
  message: Message,
): Record<string, string> => ({
  AMS_AGENT_ID: agentId,
  AMS_EVENT_ID: String(id),
  AMS_EVENT_TYPE: type,
  AMS_MESSAGE_ID: message.id,
  AMS_THREAD_ID: message.threadId ?? '',
  AMS_CONVERSATION: field(message.conversationKey),
  AMS_CHANNEL: channel,
  AMS_MAY_INSTRUCT: String(message.mayInstruct),
  AMS_FROM: field(message.counterpart),
  AMS_FROM_NAME: field(message.counterpartName),
  AMS_SUBJECT: field(message.subject),
})

/** After SIGTERM, a command has this long to clean up. */
const GRACE_MS = 5_000

/** Runs a command of the shell; resolves with null when it exited with 0, otherwise with what it did. */
export const runCommand = (
  command: string,
  stdin: string,
  env: Record<string, string>,
  { signal, seconds }: { signal: AbortSignal; seconds: number },
): Promise<string | null> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, {
      shell: true,
      env: { ...process.env, ...env },
      stdio: ['pipe', 'inherit', 'inherit'],
      detached: process.platform !== 'win32', // a process group, so that what the shell started ends with it
    })
    const end = (name: NodeJS.Signals) => {
      try {
        process.kill(-child.pid!, name)
      } catch {
        child.kill(name)
      }
    }
    let late = ''
    let timer = setTimeout(() => {
      late = `took longer than ${seconds} s`
      end('SIGTERM')
      timer = setTimeout(end, GRACE_MS, 'SIGKILL')
    }, seconds * 1000)
    const leave = () => {
      clearTimeout(timer)
      end('SIGTERM')
      reject(signal.reason)
    }
    signal.addEventListener('abort', leave)
    child.stdin.on('error', () => undefined) // a command need not read it
    child.stdin.end(stdin)
    child.on('error', reject)
    child.on('exit', (code, by) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', leave)
      resolve(late || (code === 0 ? null : code === null ? `was ended by ${by}` : `exited with ${code}`))
    })
  })

const base64Of = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

/** Headers of a webhook delivery, signed as Standard Webhooks describes. */
const sign = async (secret: string, id: string, body: string): Promise<Record<string, string>> => {
  const timestamp = String(Math.floor(Date.now() / 1000))
  const bytes = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const signature = await crypto.subtle.sign('HMAC', key, Buffer.from(`${id}.${timestamp}.${body}`))
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${base64Of(new Uint8Array(signature))}`,
  }
}

export const newSecret = (): string => `whsec_${base64Of(crypto.getRandomValues(new Uint8Array(24)))}`

const display = (name: string | null, address: string): string => (name ? `${name} <${address}>` : address)

/** Who sent the message of an event: the agent, if it is one of its own. */
const fromOf = ({ sender }: Event, { direction, counterpart, counterpartName }: Message): string => {
  const own = sender.email ?? sender.phone
  if (direction === 'inbound') return display(counterpartName, counterpart)
  return own === null ? (sender.name ?? '') : display(sender.name, own)
}

/** What a webhook of the service would get for an event. */
const payloadOf = (agent: { id: string; name: string }, event: Event, message: Message) => {
  const { subject, text } = message
  const { refusal, error, hold } = event
  const isUrl = event.channel === 'url'
  return {
    eventId: `evt_${agent.id.replaceAll('-', '')}_${event.id}`,
    name: event.type,
    timestamp: event.createdAt,
    data: {
      agent: { id: agent.id, name: agent.name },
      message: {
        id: message.id,
        channel: event.channel,
        from: fromOf(event, message),
        subject,
        ...(isUrl ? { text, sender: event.sender } : {}),
        ...(refusal && { refusal }),
        ...(error !== undefined && { error }),
        ...(hold && { hold }),
      },
    },
    cursor: String(event.id),
  }
}

const TIMEOUT_MS = 30_000

/** POSTs an event as a webhook delivery; resolves with the status, or with the reason why there is none. */
export const forward = async (
  url: string,
  secret: string,
  agent: { id: string; name: string },
  { event, message }: { event: Event; message: Message },
): Promise<number | string> => {
  const payload = payloadOf(agent, event, message)
  const body = JSON.stringify(payload)
  const headers = { 'content-type': 'application/json', ...(await sign(secret, payload.eventId, body)) }
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const response = await fetch(url, { method: 'POST', redirect: 'manual', headers, body, signal })
    await response.body?.cancel()
    return response.status
  } catch (error) {
    const { cause, message: why } = error as Error & { cause?: { code?: string } }
    return cause?.code ?? why
  }
}
