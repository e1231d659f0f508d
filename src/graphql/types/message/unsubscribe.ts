import { unsubscribe } from '../../../api/message/unsubscribe.ts'
import { messageMutation } from './message.ts'

messageMutation(unsubscribe, 'An email to unsubscribe from.')
