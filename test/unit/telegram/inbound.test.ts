import { describe, expect, test } from 'vitest'
import { contentOf } from '../../../src/channel/telegram/content.ts'
import { toInbound } from '../../../src/channel/telegram/inbound.ts'
import { readUpdate, type TelegramMessage } from '../../../src/channel/telegram/update.ts'

const ann = { id: 100, is_bot: false, first_name: 'Ann', last_name: 'Example', username: 'ann_example' }
const chat = { id: 100, type: 'private' }
const group = { id: -1001, type: 'supergroup', title: 'Plans' }
const bot = { id: 700, address: '@support_bot' }

/** A message as it is read off the wire. */
const wire = (content: object): TelegramMessage =>
  readUpdate(
    Buffer.from(
      JSON.stringify({ update_id: 1, message: { message_id: 5, date: 0, chat, from: ann, ...content } }),
    ),
  ).message!
const inbound = (content: object) =>
  toInbound(wire(content), bot, 1, async (file) => ({
    attachment: { name: file.name, type: file.type, content: Buffer.from('x') },
  }))

const file = { file_id: 'f1', file_unique_id: 'u1', file_size: 10 }

describe('what a message says in words, and its file', () => {
  test.each<[string, object, string, object | null]>([
    ['text', { text: 'Hello' }, 'Hello', null],
    ['a caption', { photo: [file], caption: 'Look' }, 'Look', { name: 'photo-5.jpg', type: 'image/jpeg' }],
    [
      'a photo',
      {
        photo: [
          { ...file, file_size: 1 },
          { ...file, file_id: 'large' },
        ],
      },
      '[photo]',
      { id: 'large', size: 10 },
    ],
    [
      'a photo without sizes',
      { photo: [{ file_id: 's' }, { file_id: 'l' }] },
      '[photo]',
      { id: 'l', size: null },
    ],
    [
      'a document',
      { document: { ...file, file_name: 'report.pdf', mime_type: 'application/pdf' } },
      '[file: report.pdf]',
      { name: 'report.pdf', type: 'application/pdf' },
    ],
    [
      'a nameless document',
      { document: file },
      '[file]',
      { name: 'file-5.bin', type: 'application/octet-stream' },
    ],
    [
      'a voice message',
      { voice: { ...file, duration: 72, mime_type: 'audio/ogg' } },
      '[voice message, 1:12]',
      { name: 'voice-message-5.ogg' },
    ],
    [
      'audio',
      { audio: { ...file, duration: 5, file_name: 'song.mp3' } },
      '[audio: song.mp3, 0:05]',
      { name: 'song.mp3', type: 'audio/mpeg' },
    ],
    [
      'a video',
      { video: { ...file, duration: 0 } },
      '[video, 0:00]',
      { name: 'video-5.mp4', type: 'video/mp4' },
    ],
    [
      'a round video',
      { video_note: { ...file, duration: 9 } },
      '[video message, 0:09]',
      { type: 'video/mp4' },
    ],
    [
      'an animation, told of as a document too',
      { animation: file, document: file },
      '[animation]',
      { name: 'animation-5.mp4' },
    ],
    [
      'a sticker',
      { sticker: { ...file, emoji: '👍' } },
      '[sticker 👍]',
      { name: 'sticker-5.webp', type: 'image/webp' },
    ],
    ['a moving sticker', { sticker: { ...file, is_video: true } }, '[sticker]', { type: 'video/webm' }],
    ['a location', { location: { latitude: 52.5, longitude: 13.4 } }, '[location: 52.5, 13.4]', null],
    [
      'a place, told of as a location too',
      {
        venue: { title: 'Café', address: 'Road 1', location: { latitude: 1, longitude: 2 } },
        location: { latitude: 1, longitude: 2 },
      },
      '[place: Café, Road 1 (1, 2)]',
      null,
    ],
    [
      'a contact',
      { contact: { phone_number: '+4930123', first_name: 'Bo', last_name: 'Boe' } },
      '[contact: Bo Boe, +4930123]',
      null,
    ],
    [
      'a poll',
      { poll: { question: 'When?', options: [{ text: 'Now' }, { text: 'Later' }] } },
      '[poll: When?]\n- Now\n- Later',
      null,
    ],
    ['dice', { dice: { emoji: '🎲', value: 4 } }, '[🎲 4]', null],
    [
      'a checklist',
      { checklist: { title: 'To do', tasks: [{ text: 'one' }] } },
      '[checklist: To do]\n- one',
      null,
    ],
    ['a story', { story: {} }, '[story]', null],
    [
      'a rich message',
      {
        rich_message: {
          blocks: [
            { type: 'heading', text: 'Title', size: 1 },
            { type: 'paragraph', text: ['so ', { type: 'bold', text: 'it' }, ' is'] },
            { type: 'list', items: [{ label: '1.', blocks: [{ type: 'paragraph', text: 'first' }] }] },
            { type: 'table', cells: [[{ text: 'a' }, { text: 'b' }]] },
          ],
        },
      },
      'Title\nso it is\n1. first\na\tb',
      null,
    ],
    [
      'a link behind other words',
      {
        text: '🙂 see here',
        entities: [{ type: 'text_link', offset: 7, length: 4, url: 'https://example.com/' }],
      },
      '🙂 see here (https://example.com/)',
      null,
    ],
    [
      'a forwarded message',
      { text: 'Hi', forward_origin: { type: 'user', sender_user: { id: 9, first_name: 'Cy' } } },
      '[forwarded from Cy]\nHi',
      null,
    ],
    [
      'one of somebody who hides',
      { text: 'Hi', forward_origin: { type: 'hidden_user', sender_user_name: 'D.' } },
      '[forwarded from D.]\nHi',
      null,
    ],
  ])('%s', (_, content, text, expected) => {
    const read = contentOf(wire(content))
    expect(read?.text).toBe(text)
    if (expected) expect(read?.file).toMatchObject(expected)
    else expect(read?.file).toBeNull()
  })

  test.each([
    ['somebody joined', { new_chat_members: [ann] }],
    ['a title changed', { new_chat_title: 'New' }],
    ['a message was pinned', { pinned_message: { message_id: 1, date: 0, chat } }],
    ['a kind of message that is not known', { brand_new: { text: 'x' } }],
  ])('%s: nothing that anybody wrote', (_, content) => expect(contentOf(wire(content))).toBeNull())

  test('a rich message that is nested without end is read as far as Telegram nests', () => {
    let nested: object = { type: 'paragraph', text: 'deep' }
    for (let depth = 0; depth < 1_000; depth++) nested = { type: 'blockquote', blocks: [nested] }
    expect(contentOf(wire({ text: 'shallow', rich_message: { blocks: [nested] } }))?.text).toBe('shallow')
    expect(contentOf(wire({ rich_message: { blocks: [nested] } }))).toBeNull()
  })
})

test('what no database takes is replaced, and names have one line', async () => {
  const from = { ...ann, first_name: 'A\nnn\0', last_name: '\ud800' }
  expect(await inbound({ from, text: 'a\0b\udc00' })).toMatchObject({
    text: 'a\ufffdb\ufffd',
    from: { name: 'A nn\ufffd \ufffd' },
  })
})

describe('in a group the bot is spoken to', () => {
  const said = (content: object) => inbound({ chat: group, ...content })
  test.each<[string, object]>([
    ['by its name', { text: 'what do you say, @support_bot?' }],
    ['by its name in another case', { text: '@Support_BOT hi' }],
    ['in a caption', { photo: [file], caption: 'see this @support_bot' }],
    [
      'by a link to it',
      { text: 'you there', entities: [{ type: 'text_mention', offset: 0, length: 3, user: { id: 700 } }] },
    ],
    ['by a command', { text: '/help me' }],
    ['by a command to it', { text: '/help@Support_bot me' }],
    [
      'by an answer to it',
      { text: 'yes', reply_to_message: { message_id: 4, from: { id: 700, is_bot: true } } },
    ],
  ])('%s', async (_, content) =>
    expect(await said(content)).toMatchObject({ to: ['@support_bot', '-1001'], from: { address: '100' } }),
  )

  test.each<[string, object]>([
    ['talk among others', { text: 'hello everybody' }],
    ['another bot', { text: '@support_bot2 hi' }],
    ['the end of another name', { text: 'x@support_bot' }],
    ['a mail address', { text: 'write to me@support_bot.example' }],
    ['a command to another bot', { text: '/help@other_bot' }],
    ['an answer to somebody else', { text: 'yes', reply_to_message: { message_id: 4, from: { id: 200 } } }],
    [
      'a post of a channel, forwarded by itself',
      { text: '@support_bot', is_automatic_forward: true, sender_chat: { id: -1009, type: 'channel' } },
    ],
  ])('and not by %s', async (_, content) => expect(await said(content)).toBeNull())

  test('in a topic, where it is answered too', async () => {
    const topic = { message_thread_id: 42, is_topic_message: true }
    const opened = { message_id: 42, from: ann, forum_topic_created: { name: 'Topic' } }
    const message = await said({ text: '@support_bot hi', ...topic, reply_to_message: opened })
    expect(message).toMatchObject({ to: ['@support_bot', '-1001/42'], inReplyTo: null })
  })

  test('by the group itself, in whose name an admin writes', async () => {
    const from = { id: 1087968824, is_bot: true, first_name: 'Group', username: 'GroupAnonymousBot' }
    const message = await said({ text: '@support_bot hi', from, sender_chat: group })
    expect(message).toMatchObject({ from: { address: '-1001', name: 'Plans' }, automatic: null })
  })
})

test('a bot’s message is a machine’s, and a channel’s is nobody’s', async () => {
  expect(await inbound({ from: { ...ann, is_bot: true }, text: 'hi' })).toMatchObject({
    automatic: 'written by a bot',
  })
  expect(
    await inbound({
      chat: { id: -1, type: 'channel' },
      sender_chat: { id: -1, type: 'channel' },
      text: '@support_bot',
    }),
  ).toBeNull()
  expect(await inbound({ from: undefined, text: 'hi' })).toBeNull()
})

test('an answer names what it answers, in this chat of this bot', async () => {
  const message = await inbound({ text: 'yes', reply_to_message: { message_id: 4, from: ann } })
  expect(message).toMatchObject({ messageId: '700:100:5', inReplyTo: '700:100:4', deliveryId: '700/1' })
})

test.each([
  ['', 'body'],
  ['nonsense', 'body'],
  ['[]', 'body'],
  ['{}', 'update_id'],
  ['{"update_id":"1"}', 'update_id'],
  ['{"update_id":1.5}', 'update_id'],
  ['{"update_id":1,"message":5}', 'message'],
  ['{"update_id":1,"message":{"message_id":1}}', 'message.chat'],
  ['{"update_id":1,"message":{"message_id":1,"chat":{"id":1,"type":"private"},"text":5}}', 'message.text'],
  ['['.repeat(200_000), 'body'],
])('%s is no update, and the field is named', (body, field) => {
  expect(() => readUpdate(Buffer.from(body))).toThrow(
    expect.objectContaining({ code: 'invalid_input', field }),
  )
})

test('kinds of updates that are not asked for are passed over', () => {
  expect(readUpdate(Buffer.from('{"update_id":1,"edited_message":{"odd":true}}'))).toEqual({ update_id: 1 })
})
