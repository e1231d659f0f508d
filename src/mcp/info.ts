import { VERSION } from '../core/version.ts'

/** The server's name and version. */
export const INFO = { name: 'agent-messaging-service', title: 'Agent Messaging Service', version: VERSION }
