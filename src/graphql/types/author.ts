import { Author as AUTHOR } from '../../api/author.ts'
import { objectOf } from '../rendered.ts'

export const Author = objectOf(AUTHOR)
