import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Keyring } from '../../workspace/index.ts'
import { openHeaders } from './headers.ts'
import { compileTemplate, render, type Template } from './template.ts'

/** How a webhook's requests differ from the usual ones. */
export interface Format {
  /** Additional headers, names and values alternating. */
  headers: readonly string[]
  /** Makes the body from the event; null when the body is the event. */
  template: Template | null
}

/** A webhook's row, with what its format is read from. */
export interface FormatRow {
  id: string
  workspace_id: string
  headers: Uint8Array | null
  body: string | null
}

export const templateOf = (body: string | null): Template | null =>
  body === null ? null : compileTemplate(body)

/** Returns the format of a webhook's requests; null when its headers cannot be decrypted. */
export const openFormat = async (
  { keyring, log }: { keyring: Keyring; log: Logger },
  { id, workspace_id: workspaceId, headers, body }: FormatRow,
): Promise<Format | null> => {
  try {
    const opened = await openHeaders(keyring, { workspaceId, id }, headers)
    return { headers: opened.flat(), template: templateOf(body) }
  } catch (error) {
    log.error(
      { webhookId: id, error: messageOf(error) },
      'could not read the headers or the template of a webhook',
    )
    return null
  }
}

/** Returns the body that is sent for an event, given as JSON; null when it would be too large. */
export const formatBody = (template: Template | null, event: Buffer): Buffer | null =>
  template === null ? event : render(template, JSON.parse(event.toString()))
