import * as choices from '../../api/choices.ts'
import { enumOf } from '../rendered.ts'

export const AddressChannel = enumOf(choices.AddressChannel)
export const MemberRole = enumOf(choices.MemberRole)
export const ViewerKind = enumOf(choices.ViewerKind)
export const ActorKind = enumOf(choices.ActorKind)
export const DeliveryStatus = enumOf(choices.DeliveryStatus)
<<<<<<< HEAD
=======
export const RecipientStatus = enumOf(choices.RecipientStatus)
export const SuppressionReason = enumOf(choices.SuppressionReason)
export const ListenerKind = enumOf(choices.ListenerKind)
export const Icon = enumOf(choices.Icon)
export const AuditAction = enumOf(choices.AuditAction)
>>>>>>> wt-a4
