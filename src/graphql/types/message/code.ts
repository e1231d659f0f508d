import { TakenCode, takeCode } from '../../../api/message/code.ts'
import { mutation, objectOf } from '../../builder/rendered.ts'

const Taken = objectOf(TakenCode)

mutation(takeCode, 'The code to take.', (t) => ({
  code: t.field({ type: Taken, description: 'The code or link.', resolve: ({ result }) => result as never }),
}))
