import { useState } from 'react'
import { graphql, type ResultOf } from '../live/graphql.ts'
import { useAction, useLive } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { Copyable } from '../parts/copy.tsx'
import { Confirm } from '../parts/dialog/dialog.tsx'
import { PlusIcon, SmartphoneIcon } from '../parts/icons.tsx'
import { type Column, Table } from '../parts/list/table.tsx'
import { Empty, Load } from '../parts/states.tsx'
import { Time } from '../parts/time.tsx'
import { useViewer } from '../screen/viewer.tsx'
import { RentNumber } from './rent-number.tsx'
import { text } from './strings.ts'

const NUMBERS = graphql(`
  query PhoneNumbers {
    workspace { id phoneNumbers { id value addressId createdAt } }
  }
`)
const RELEASE = graphql(`
  mutation ReleaseNumber($input: ReleasePhoneNumberInput!) { releasePhoneNumber(input: $input) { phoneNumberId } }
`)

type PhoneNumber = ResultOf<typeof NUMBERS>['workspace']['phoneNumbers'][number]

const columnsOf = (mayRelease: boolean, onRelease: (number: PhoneNumber) => void): Column<PhoneNumber>[] => [
  { title: text.columns.number, cell: ({ value }) => <Copyable value={value} what={value} /> },
  { title: text.columns.use, cell: ({ addressId }) => (addressId ? text.anAgent : text.free) },
  { title: text.columns.since, cell: ({ createdAt }) => <Time at={createdAt} />, wide: true },
  {
    title: text.columns.actions,
    right: true,
    cell: (number) =>
      mayRelease &&
      !number.addressId && (
        <Button kind="danger" onClick={() => onRelease(number)}>
          {text.release}
        </Button>
      ),
  },
]

/** The workspace's pool of phone numbers. */
export const Screen = () => {
  const loaded = useLive(NUMBERS, {}, ['agents', 'numbers'])
  const { may } = useViewer()
  const [renting, setRenting] = useState(false)
  const [releasing, setReleasing] = useState<PhoneNumber | null>(null)
  const { run } = useAction(RELEASE, { changes: { topic: 'all' } })
  const rent = may.managePhoneNumbers && (
    <Button kind="primary" icon={PlusIcon} onClick={() => setRenting(true)}>
      {text.rent}
    </Button>
  )
  return (
    <Load from={loaded}>
      {({ workspace: { phoneNumbers } }) => (
        <>
          {phoneNumbers.length > 0 ? (
            <>
              <div className="row end">{rent}</div>
              <section className="panel">
                <Table
                  label={text.list}
                  columns={columnsOf(may.managePhoneNumbers, setReleasing)}
                  rows={phoneNumbers}
                  keyOf={({ id }) => id}
                />
              </section>
            </>
          ) : (
            <Empty icon={SmartphoneIcon} title={text.none}>
              <p>{text.noneHint}</p>
              {rent}
            </Empty>
          )}
          {renting && <RentNumber onClose={() => setRenting(false)} />}
          {releasing && (
            <Confirm
              title={text.releaseTitle(releasing.value)}
              label={text.release}
              onConfirm={() => run({ input: { phoneNumberId: releasing.id } })}
              onClose={() => setReleasing(null)}
            >
              <p>{text.releaseHint}</p>
            </Confirm>
          )}
        </>
      )}
    </Load>
  )
}
