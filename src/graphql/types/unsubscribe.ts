import { unsubscribe } from '../../api/unsubscribe.ts'
import { messageMutation } from './message.ts'

messageMutation(unsubscribe, 'An email to unsubscribe from.')
