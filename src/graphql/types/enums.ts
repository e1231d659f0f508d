import * as choices from '../../api/choices.ts'
import { enumOf } from '../rendered.ts'

export const AddressChannel = enumOf(choices.AddressChannel)
export const Channel = enumOf(choices.Channel)
export const Refusal = enumOf(choices.Refusal)
export const Admit = enumOf(choices.Admit)
export const MemberRole = enumOf(choices.MemberRole)
export const DomainState = enumOf(choices.DomainState)
export const DomainRecordPurpose = enumOf(choices.DomainRecordPurpose)
export const DnsRecordType = enumOf(choices.DnsRecordType)
export const ViewerKind = enumOf(choices.ViewerKind)
export const SecretKind = enumOf(choices.SecretKind)
export const ActorKind = enumOf(choices.ActorKind)
export const DeliveryStatus = enumOf(choices.DeliveryStatus)
export const SenderKind = enumOf(choices.SenderKind)
export const ListenerKind = enumOf(choices.ListenerKind)
export const AuditAction = enumOf(choices.AuditAction)
