import { describe, expect, test } from 'vitest'
import { contentOf } from '../../../src/channel/telegram/content.ts'
import { toInbound } from '../../../src/channel/telegram/inbound.ts'
import { readUpdate, type TelegramMessage } from '../../../src/channel/telegram/update.ts'

const ann = { id: 100, is_bot: false, first_name: 'Ann', last_name: 'Example', username: 'ann_example' }
const chat = { id: 100, type: 'private' }
const group = { id: -1001, type: 'supergroup', title: 'Plans' }
const bot = { id: 700, address: '@support_bot' }

/** Returns a message as parsed from Telegram's JSON. */
const wire = (content: object): TelegramMessage =>
  readUpdate(
    Buffer.from(
      JSON.stringify({ update_id: 1, message: { message_id: 5, date: 0, chat, from: ann, ...content } }),
    ),
  ).message!
const inbound = (content: object) =>
  toInbound([wire(content)], bot, {
    id: '1',
    fetch: async (file) => ({
      attachment: { name: file.name, type: file.type, content: Buffer.from('x') },
    }),
  })

const file = { file_id: 'f1', file_unique_id: 'u1', file_size: 10 }

describe('the text and the file of a message', () => {
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
      'an animation that is also sent as a document',
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
      'a place that is also sent as a location',
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
      'a link with its own text',
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
      'a message forwarded from a hidden user',
      { text: 'Hi', forward_origin: { type: 'hidden_user', sender_user_name: 'D.' } },
      '[forwarded from D.]\nHi',
      null,
    ],
  ])('are read from %s', (_, content, text, expected) => {
    const read = contentOf([wire(content)])
    expect(read?.text).toBe(text)
    expect(read?.files).toMatchObject(expected ? [expected] : [])
  })

  test.each([
    ['a new member', { new_chat_members: [ann] }],
    ['a changed title', { new_chat_title: 'New' }],
    ['a pinned message', { pinned_message: { message_id: 1, date: 0, chat } }],
    ['an unknown kind of message', { brand_new: { text: 'x' } }],
  ])('are missing for %s', (_, content) => expect(contentOf([wire(content)])).toBeNull())

  test.each<[string, [object, object], string]>([
    ['its one caption', [{}, { caption: 'Both' }], 'Both'],
    ['all of its captions, in order', [{ caption: 'One' }, { caption: 'Two' }], 'One\nTwo'],
    ['its files, without a caption', [{}, {}], '[photo]\n[photo]'],
    [
      'the sender that it was forwarded from, once',
      [
        { forward_origin: { type: 'hidden_user', sender_user_name: 'D.' } },
        { forward_origin: { type: 'hidden_user', sender_user_name: 'D.' }, caption: 'Both' },
      ],
      '[forwarded from D.]\nBoth',
    ],
  ])('of an album contain %s', (_, [first, second], text) => {
    const photo = (message_id: number, more: object) => wire({ message_id, photo: [file], ...more })
    const read = contentOf([photo(5, first), photo(6, second)])
    expect(read?.text).toBe(text)
    expect(read?.files.map(({ name }) => name)).toEqual(['photo-5.jpg', 'photo-6.jpg'])
  })

  test('are not read from a rich message nested deeper than Telegram allows', () => {
    let nested: object = { type: 'paragraph', text: 'deep' }
    for (let depth = 0; depth < 1_000; depth++) nested = { type: 'blockquote', blocks: [nested] }
    expect(contentOf([wire({ text: 'shallow', rich_message: { blocks: [nested] } })])?.text).toBe('shallow')
    expect(contentOf([wire({ rich_message: { blocks: [nested] } })])).toBeNull()
  })
})

test('characters that cannot be stored are replaced, and names are on one line', async () => {
  const from = { ...ann, first_name: 'A\nnn\0', last_name: '\ud800' }
  expect(await inbound({ from, text: 'a\0b\udc00' })).toMatchObject({
    text: 'a\ufffdb\ufffd',
    from: { name: 'A nn\ufffd \ufffd' },
  })
})

describe('in a group, the bot receives a message', () => {
  const inGroup = (content: object) => inbound({ chat: group, ...content })
  test.each<[string, object]>([
    ['that mentions it', { text: 'what do you say, @support_bot?' }],
    ['that mentions it after another bot', { text: '@support_bot2 and @support_bot, please' }],
    ['that mentions it in another case', { text: '@Support_BOT hi' }],
    ['that mentions it in a caption', { photo: [file], caption: 'see this @support_bot' }],
    [
      'that links to it',
      { text: 'you there', entities: [{ type: 'text_mention', offset: 0, length: 3, user: { id: 700 } }] },
    ],
    ['with a command', { text: '/help me' }],
    ['with a command to it', { text: '/help@Support_bot me' }],
    [
      'that replies to it',
      { text: 'yes', reply_to_message: { message_id: 4, from: { id: 700, is_bot: true } } },
    ],
  ])('%s', async (_, content) =>
    expect(await inGroup(content)).toMatchObject({ to: ['@support_bot', '-1001'], from: { address: '100' } }),
  )

  test.each<[string, object]>([
    ['that does not mention it', { text: 'hello everybody' }],
    ['that mentions another bot', { text: '@support_bot2 hi' }],
    ['that mentions a longer name ending in its own', { text: 'x@support_bot' }],
    ['with a mail address that contains its name', { text: 'write to me@support_bot.example' }],
    ['with a command to another bot', { text: '/help@other_bot' }],
    ['that replies to someone else', { text: 'yes', reply_to_message: { message_id: 4, from: { id: 200 } } }],
    [
      'that is an automatically forwarded channel post',
      { text: '@support_bot', is_automatic_forward: true, sender_chat: { id: -1009, type: 'channel' } },
    ],
  ])('but not one %s', async (_, content) => expect(await inGroup(content)).toBeNull())

  test('in a topic, to which its answers go too', async () => {
    const topic = { message_thread_id: 42, is_topic_message: true }
    const opened = { message_id: 42, from: ann, forum_topic_created: { name: 'Topic' } }
    const message = await inGroup({ text: '@support_bot hi', ...topic, reply_to_message: opened })
    expect(message).toMatchObject({ to: ['@support_bot', '-1001/42'], inReplyTo: null })
  })

  test('from an anonymous admin, with the group as its sender', async () => {
    const from = { id: 1087968824, is_bot: true, first_name: 'Group', username: 'GroupAnonymousBot' }
    const message = await inGroup({ text: '@support_bot hi', from, sender_chat: group })
    expect(message).toMatchObject({ from: { address: '-1001', name: 'Plans' }, automatic: null })
  })
})

test('a message from a bot is automatic, and a channel post is ignored', async () => {
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

test('a reply refers to the message it answers, in this chat of this bot', async () => {
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
])('%j is refused as an update, naming the field %s', (body, field) => {
  expect(() => readUpdate(Buffer.from(body))).toThrow(
    expect.objectContaining({ code: 'invalid_input', field }),
  )
})

test('other kinds of updates are ignored', () => {
  expect(readUpdate(Buffer.from('{"update_id":1,"edited_message":{"odd":true}}'))).toEqual({ update_id: 1 })
})
