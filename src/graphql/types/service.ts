import { CHANNEL_KINDS } from '../../core/channels.ts'
import { VERSION } from '../../core/version.ts'
import { builder } from '../builder/builder.ts'
import { AddressChannel } from './enums.ts'

const Service = builder.objectRef<object>('Service').implement({
  description: 'This installation of the service: what a page needs to tell people how to use it.',
  fields: (t) => ({
    version: t.string({ description: 'Its version.', resolve: () => VERSION }),
    publicUrl: t.string({
      description: 'The URL at which clients reach it, without a trailing slash.',
      resolve: (_service, _args, { deps }) => deps.publicUrl(),
    }),
    mailDomain: t.string({
      description: 'The domain of the email addresses that it gives to agents.',
      resolve: (_service, _args, { deps }) => deps.mailDomain,
    }),
    smtp: t.string({
      nullable: true,
      description:
        'Host and port at which this process receives email by SMTP; null when another process does that.',
      resolve: (_service, _args, { deps }) => deps.place.smtp,
    }),
    captured: t.boolean({
      description: 'Whether outgoing email is stored in a folder (`DATA_DIR/outbox`) and not sent.',
      resolve: (_service, _args, { deps }) => deps.capturedMail !== null,
    }),
    channels: t.field({
      type: [AddressChannel],
      description: 'The channels that are configured.',
      resolve: (_service, _args, { deps }) => CHANNEL_KINDS.filter((kind) => deps.channels[kind]),
    }),
  }),
})

builder.queryField('service', (t) =>
  t.field({ type: Service, description: 'This installation of the service.', resolve: () => ({}) }),
)
