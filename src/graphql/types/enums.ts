import * as choices from '../../api/choices.ts'
import { enumOf } from '../builder/rendered.ts'

export const AddressChannel = enumOf(choices.AddressChannel)
export const MemberRole = enumOf(choices.MemberRole)
export const ViewerKind = enumOf(choices.ViewerKind)
export const ActorKind = enumOf(choices.ActorKind)
export const DeliveryStatus = enumOf(choices.DeliveryStatus)
