import * as choices from '../../api/choices.ts'
import { enumOf } from '../builder/rendered.ts'

export const AddressChannel = enumOf(choices.AddressChannel)
export const ActorKind = enumOf(choices.ActorKind)
export const DeliveryStatus = enumOf(choices.DeliveryStatus)
