import { Author as AUTHOR } from '../../../api/message/author.ts'
import { objectOf } from '../../builder/rendered.ts'

export const Author = objectOf(AUTHOR)
