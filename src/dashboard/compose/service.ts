import { client, OWN_HEADERS } from '../live/client.ts'
import { type Failure, failureOf } from '../live/failure.ts'
import { graphql, type ResultOf } from '../live/graphql.ts'
import type { AttachedFile } from './files.ts'
import { draftOf, inputOf, type Letter, type Words } from './letter.ts'

/** What the service is asked about letters. Not as hooks: saving goes on after its screen was left. */

const SEND = graphql(`
  mutation SendMessage($input: SendMessageInput!) {
    sendMessage(input: $input) { message { id threadId hold { reason } } }
  }
`)
const SAVE = graphql(`
  mutation SaveDraft($input: SaveDraftInput!) { saveDraft(input: $input) { draft { id updatedAt } } }
`)
const SEND_DRAFT = graphql(`
  mutation SendDraft($input: SendDraftInput!) {
    sendDraft(input: $input) { message { id threadId hold { reason } } }
  }
`)
const DELETE = graphql(`
  mutation DiscardDraft($input: DeleteDraftInput!) { deleteDraft(input: $input) { draftId } }
`)
const DRAFT = graphql(`
  query Draft($agentId: UUID!, $id: UUID!) {
    draft(agentId: $agentId, id: $id) {
      id channel to cc bcc subject text html replyTo replyAll forward sendAt updatedAt attachments { name size }
    }
  }
`)

export type Draft = ResultOf<typeof DRAFT>['draft']
export type Sent = NonNullable<ResultOf<typeof SEND>['sendMessage']>['message']

/** The result, or why there is none. */
export type Answer<Value> = { value: Value; failure: null } | { value: null; failure: Failure }

const UNANSWERED: Failure = { code: 'internal', message: '', field: null, requestId: null }

const withKey = (key: string) => ({
  fetchOptions: { headers: { ...OWN_HEADERS, 'Idempotency-Key': key } },
})

const answerOf = <Value>(
  value: Value | null | undefined,
  error: Parameters<typeof failureOf>[0],
): Answer<Value> => {
  const failure = failureOf(error)
  if (failure || !value) return { value: null, failure: failure ?? UNANSWERED }
  return { value, failure: null }
}

/**
 * Creates the draft of a letter, empty as yet: with the same key this is the same request whatever was typed since,
 * so that a lost answer does not lead to a second draft.
 */
export const createDraft = async ({ agentId, replyTo, forward }: Words, key: string) => {
  const input = { agentId, replyTo, forward }
  const { data, error } = await client.mutation(SAVE, { input }, withKey(key)).toPromise()
  return answerOf(data?.saveDraft?.draft, error)
}

/** Saves the words, unless the draft was changed by somebody else: `conflict`. `files` is null if they did not change. */
export const updateDraft = async (
  words: Words,
  files: readonly AttachedFile[] | null,
  { id, updatedAt }: { id: string; updatedAt: string },
) => {
  const input = { agentId: words.agentId, draftId: id, unchangedSince: updatedAt, ...draftOf(words, files) }
  const { data, error } = await client.mutation(SAVE, { input }).toPromise()
  return answerOf(data?.saveDraft?.draft, error)
}

export const readDraft = async (agentId: string, id: string): Promise<Answer<Draft>> => {
  const { data, error } = await client
    .query(DRAFT, { agentId, id }, { requestPolicy: 'network-only' })
    .toPromise()
  return answerOf(data?.draft, error)
}

export const deleteDraft = async (agentId: string, draftId: string) => {
  const { data, error } = await client.mutation(DELETE, { input: { agentId, draftId } }).toPromise()
  return answerOf(data?.deleteDraft?.draftId, error)
}

/** Sends a letter of which there is no draft. */
export const sendLetter = async (letter: Letter, key: string): Promise<Answer<Sent>> => {
  const { data, error } = await client.mutation(SEND, { input: inputOf(letter) }, withKey(key)).toPromise()
  return answerOf(data?.sendMessage?.message, error)
}

/**
 * Sends the draft as it was saved last, unless somebody has changed it since: `conflict`. What was saved is the key, too:
 * a repeated request sends it once.
 */
export const sendDraft = async (
  agentId: string,
  { id: draftId, updatedAt }: { id: string; updatedAt: string },
): Promise<Answer<Sent>> => {
  const input = { agentId, draftId, unchangedSince: updatedAt }
  const key = `${draftId}:${updatedAt}`
  const { data, error } = await client.mutation(SEND_DRAFT, { input }, withKey(key)).toPromise()
  return answerOf(data?.sendDraft?.message, error)
}
