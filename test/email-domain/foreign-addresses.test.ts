import { expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { createSigner, dkimKeys } from '../../src/email-domain/index.ts'
import { fakeResolver } from '../support/dns.ts'
import { createTestAgent, startService } from '../support/service.ts'

test('mail of an agent that came from another installation is signed for its domain, once the operator has made a key', async () => {
  const service = await startService()
  const tenant = await service.workspace()
  const agent = await createTestAgent(service, tenant)
  const address = 'bot@elsewhere.example'
  await service.db.prisma.address.updateMany({ where: { agentId: agent.id }, data: { value: address } })
  const deps = { ...service.db, keyring: service.keyring, clock: systemClock, resolver: fakeResolver({}) }
  const signing = (from: string) => createSigner({ ...deps, mailDomain: 'agents.localhost' })(from)
  expect(await signing(address)).toEqual([])

  await dkimKeys(deps, { domain: 'elsewhere.example', workspaceId: null })
  expect(await signing(address)).toMatchObject([{ domain: 'elsewhere.example' }])
  expect(await signing('nobody@elsewhere.example')).toEqual([])
})
