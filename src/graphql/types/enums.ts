import * as choices from '../../api/choices.ts'
import { enumOf } from '../rendered.ts'

export const AddressChannel = enumOf(choices.AddressChannel)
export const Channel = enumOf(choices.Channel)
export const Direction = enumOf(choices.Direction)
export const MessageStatus = enumOf(choices.MessageStatus)
export const Refusal = enumOf(choices.Refusal)
export const HoldReason = enumOf(choices.HoldReason)
export const Admission = enumOf(choices.Admission)
export const MemberRole = enumOf(choices.MemberRole)
export const ViewerKind = enumOf(choices.ViewerKind)
export const ActorKind = enumOf(choices.ActorKind)
export const DeliveryStatus = enumOf(choices.DeliveryStatus)
export const RecipientStatus = enumOf(choices.RecipientStatus)
export const SenderKind = enumOf(choices.SenderKind)
