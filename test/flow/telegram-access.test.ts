import type { User } from '@grammyjs/types'
import { describe, expect, test } from 'vitest'
import { arrangeTelegram } from '../support/telegram.ts'

const { telegram, service, owner, agent, bot, ann, another, open, messages, newest, told } =
  await arrangeTelegram()

describe('a sender is admitted', () => {
  const verdictOf = async (from: User, text = 'hello', more: object = {}) => {
    await telegram.write(bot, from, { text, ...more })
    const { status, admission, refusal } = await newest()
    return admission ?? `${status}: ${refusal}`
  }
  const senders = async () => (await agent.api('GET', `/agents/${agent.id}/access`)).body.telegram.senders

  test('by user ID', async () => {
    await open('list', [String(ann.id)])
    expect(await verdictOf(ann)).toBe('listed')
    expect(await verdictOf(telegram.world.person('Bo', 'bo_example'))).toBe('refused: sender')
  })

  test.each(['@Ann_Example', 'ANN_EXAMPLE'])(
    'by the username %s, which is replaced by the user ID at the first message',
    async (entry) => {
      await open('list', [entry, '@somebody_else'])
      expect(await verdictOf(ann)).toBe('listed')
      expect(await senders()).toEqual([String(ann.id), '@somebody_else'])
      const heir = telegram.world.person('Heir', 'ann_example')
      expect(await verdictOf(heir)).toBe('refused: sender')
      expect(await verdictOf({ ...ann, username: 'renamed' })).toBe('listed')
      expect(await verdictOf({ ...ann, username: undefined } as never)).toBe('listed')
    },
  )

  test('by a username only once, even if several people use it concurrently', async () => {
    await open('list', ['@race_name'])
    const racers = Array.from({ length: 5 }, (_, n) => telegram.world.person(`Racer ${n}`, 'race_name'))
    await Promise.all(racers.map((racer, n) => telegram.post(bot, told(5_000 + n, `race ${n}`, racer))))
    const raced = (await messages()).filter(({ text }: { text: string }) => text.startsWith('race '))
    expect(raced.filter(({ status }: { status: string }) => status === 'received')).toHaveLength(1)
    expect(await senders()).toHaveLength(1)
  })

  test('as part of the team by the Telegram ID that a member has proven', async () => {
    await open('team')
    const member = telegram.world.person('Member')
    expect(await verdictOf(member)).toBe('refused: outsider')
    await service.db.prisma.memberIdentity.create({
      data: { memberId: owner.member, channel: 'telegram', value: String(member.id) },
    })
    expect(await verdictOf(member)).toBe('team')
    const { id } = await newest()
    const { items } = (await agent.api('GET', `/agents/${agent.id}/events?after=0&limit=100`)).body
    const event = items.find(({ messageId }: { messageId: string }) => messageId === id)
    expect(event.sender).toMatchObject({ id: owner.member, kind: 'member', email: null, phone: null })
    const stranger = await service.workspace('Strangers')
    const theirs = telegram.world.person('Theirs')
    await service.db.prisma.memberIdentity.create({
      data: { memberId: stranger.member, channel: 'telegram', value: String(theirs.id) },
    })
    expect(await verdictOf(theirs)).toBe('refused: outsider')
  })

  test('never as a bot, even if it is on the list', async () => {
    await open('anyone', ['@robot_bot'])
    const robot = { ...telegram.world.person('Robot', 'robot_bot'), is_bot: true }
    expect(await verdictOf(robot)).toBe('refused: self')
    expect(await senders()).toEqual(['@robot_bot'])
  })

  test('at most 30 times a minute', async () => {
    const { agent: other, bot: its } = await another('Crowded')
    const person = telegram.world.person('Eager')
    await Promise.all(Array.from({ length: 35 }, (_, n) => telegram.post(its, told(n + 1, `${n}`, person))))
    const verdicts = (await messages(other)).map(({ refusal }: { refusal: string | null }) => refusal)
    expect(verdicts.filter((refusal: string | null) => refusal === null)).toHaveLength(30)
    expect(verdicts.filter((refusal: string | null) => refusal === 'rate_limit')).toHaveLength(5)
  })

  test('only until the plan is full', async () => {
    const small = await service.workspace('Small')
    const { agent: other, bot: its } = await another('Full', small)
    await service.db.prisma.plan.upsert({
      where: { key: 'tiny' },
      create: { key: 'tiny', storedMessages: 0 },
      update: {},
    })
    await service.db.prisma.workspace.update({ where: { id: small.id }, data: { planKey: 'tiny' } })
    await telegram.post(its, told(1, 'too much'))
    expect(await newest(other)).toMatchObject({ status: 'refused', refusal: 'plan_limit' })
  })
})
