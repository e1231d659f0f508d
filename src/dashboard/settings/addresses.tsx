import { useState } from 'react'
import { CHANNELS } from '../channels/channels.ts'
import { wordsOf } from '../channels/words.ts'
import { graphql } from '../live/graphql.ts'
import { useAction } from '../live/use.ts'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Copyable } from '../parts/copy.tsx'
import { Confirm } from '../parts/dialog/dialog.tsx'
import { PlusIcon } from '../parts/icons.tsx'
import { type Column, Table } from '../parts/list/table.tsx'
import { Menu } from '../parts/menu.tsx'
import { Panel } from '../parts/panel.tsx'
import { ChangeAddress } from './change-address.tsx'
import type { Address, Agent } from './query.ts'
import { SetUpLink } from './set-up-link.tsx'
import { text } from './strings.ts'

const PRIMARY = graphql(`
  mutation MakePrimary($input: ChangeAddressInput!) { changeAddress(input: $input) { address { id primary } } }
`)
const REMOVE = graphql(`
  mutation RemoveAddress($input: RemoveAddressInput!) { removeAddress(input: $input) { addressId } }
`)
const SET_UP = graphql(`
  mutation SetUpAddress($input: SetUpAddressInput!) { setUpAddress(input: $input) { url } }
`)

/** The address that the service assigned is changed, any other one removed. */
const isAssigned = ({ channel, domainId }: Address): boolean => channel === 'email' && domainId === null

interface Actions {
  onPrimary(address: Address): void
  onChange(address: Address): void
  onRemove(address: Address): void
}

const columnsOf = ({ onPrimary, onChange, onRemove }: Actions): readonly Column<Address>[] => [
  { title: text.columns.channel, cell: ({ channel }) => wordsOf(channel).name, wide: true },
  {
    title: text.columns.address,
    cell: ({ value, primary }) => (
      <span className="row">
        <Copyable value={value} what={value} />
        {primary && <Badge>{text.primary}</Badge>}
      </span>
    ),
  },
  {
    title: text.columns.actions,
    right: true,
    cell: (address) => (
      <div className="row end">
        {!address.primary && <Button onClick={() => onPrimary(address)}>{text.makePrimary}</Button>}
        {isAssigned(address) ? (
          <Button onClick={() => onChange(address)}>{text.change}</Button>
        ) : (
          <Button kind="danger" onClick={() => onRemove(address)}>
            {text.remove}
          </Button>
        )}
      </div>
    ),
  },
]

const AddAddress = ({ agentId }: { agentId: string }) => {
  const { run } = useAction(SET_UP)
  const [url, setUrl] = useState<string | null>(null)
  const ask = async (channel: Address['channel']) => {
    const made = await run({ input: { agentId, channel } })
    if (made?.setUpAddress) setUrl(made.setUpAddress.url)
  }
  return (
    <>
      <Menu label={text.add} icon={PlusIcon}>
        {CHANNELS.map((channel) => (
          <Button key={channel} kind="ghost" onClick={() => void ask(channel)}>
            {wordsOf(channel).add}
          </Button>
        ))}
      </Menu>
      {url && <SetUpLink url={url} onClose={() => setUrl(null)} />}
    </>
  )
}

/** Where the agent is reached. */
export const Addresses = ({ agent: { id: agentId, addresses } }: { agent: Agent }) => {
  const [changing, setChanging] = useState<Address | null>(null)
  const [removing, setRemoving] = useState<Address | null>(null)
  const primary = useAction(PRIMARY, { changes: { topic: 'agents', agentId } })
  const removal = useAction(REMOVE, { changes: { topic: 'agents', agentId } })
  const actions: Actions = {
    onPrimary: ({ id }) => void primary.run({ input: { agentId, addressId: id, primary: true } }),
    onChange: setChanging,
    onRemove: setRemoving,
  }
  return (
    <Panel title={text.addresses} actions={<AddAddress agentId={agentId} />}>
      <Table label={text.addressList} columns={columnsOf(actions)} rows={addresses} keyOf={({ id }) => id} />
      {changing && <ChangeAddress agentId={agentId} address={changing} onClose={() => setChanging(null)} />}
      {removing && (
        <Confirm
          title={text.removeTitle(removing.value)}
          label={text.remove}
          onConfirm={() => removal.run({ input: { agentId, addressId: removing.id } })}
          onClose={() => setRemoving(null)}
        >
          <p>{wordsOf(removing.channel).removeHint}</p>
        </Confirm>
      )}
    </Panel>
  )
}
