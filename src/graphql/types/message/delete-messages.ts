import { deleteMessages } from '../../../api/message/message-deletion.ts'
import { removal } from '../../builder/rendered.ts'

removal(deleteMessages, 'Messages to delete.', { ids: 'The ids of the deleted messages.' })
