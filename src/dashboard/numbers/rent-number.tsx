import { useState } from 'react'
import { useQuery } from 'urql'
import { failureOf } from '../live/failure.ts'
import { graphql, type ResultOf } from '../live/graphql.ts'
import { useAction } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog/dialog.tsx'
import { Field } from '../parts/form/field.tsx'
import { Form } from '../parts/form.tsx'
import { type Column, Table } from '../parts/list/table.tsx'
import { Failed, Loading } from '../parts/states.tsx'
import { text } from './strings.ts'

const OFFERS = graphql(`
  query Offers($country: String!, $areaCode: String) {
    availablePhoneNumbers(country: $country, areaCode: $areaCode) { value locality price { amount currency } }
  }
`)
const BUY = graphql(`
  mutation RentNumber($input: BuyPhoneNumberInput!) { buyPhoneNumber(input: $input) { phoneNumber { id } } }
`)

type Offer = ResultOf<typeof OFFERS>['availablePhoneNumbers'][number]
interface Search {
  country: string
  areaCode: string | null
}

const columnsOf = (busy: boolean, onRent: (value: string) => void): readonly Column<Offer>[] => [
  { title: text.offer.number, cell: ({ value }) => value },
  { title: text.offer.place, cell: ({ locality }) => locality ?? '', wide: true },
  {
    title: text.offer.price,
    right: true,
    cell: ({ price }) => (price ? text.price(price.amount, price.currency) : ''),
  },
  {
    title: text.offer.rent,
    right: true,
    cell: ({ value }) => (
      <Button busy={busy} aria-label={text.rentThis(value)} onClick={() => onRent(value)}>
        {text.offer.rent}
      </Button>
    ),
  },
]

const Offers = ({ search, onClose }: { search: Search; onClose(): void }) => {
  const [{ data, error, fetching }] = useQuery({ query: OFFERS, variables: search })
  const { run, busy } = useAction(BUY, { changes: { topic: 'all' } })
  const failure = failureOf(error)
  const rent = async (value: string) => {
    if (await run({ input: { value } })) onClose()
  }
  if (fetching) return <Loading />
  if (failure) return <Failed failure={failure} />
  const offers = data?.availablePhoneNumbers ?? []
  if (offers.length === 0) return <p className="soft">{text.noOffers}</p>
  return (
    <Table
      label={text.offers}
      columns={columnsOf(busy, (value) => void rent(value))}
      rows={offers}
      keyOf={({ value }) => value}
    />
  )
}

/** Searches for numbers, and rents one. */
export const RentNumber = ({ onClose }: { onClose(): void }) => {
  const [country, setCountry] = useState('US')
  const [areaCode, setAreaCode] = useState('')
  const [search, setSearch] = useState<Search | null>(null)
  const submit = () => setSearch({ country: country.trim().toUpperCase(), areaCode: areaCode.trim() || null })
  return (
    <Dialog wide title={text.rent} onClose={onClose}>
      <Form className="form" onSubmit={submit}>
        <Field
          label={text.country}
          hint={text.countryHint}
          value={country}
          onChange={(event) => setCountry(event.target.value)}
          maxLength={2}
          autoComplete="off"
          autoFocus
          required
        />
        <Field
          label={text.areaCode}
          value={areaCode}
          onChange={(event) => setAreaCode(event.target.value)}
          inputMode="numeric"
          autoComplete="off"
        />
        <div className="row">
          <Button submit>{text.search}</Button>
        </div>
      </Form>
      {search && <Offers search={search} onClose={onClose} />}
    </Dialog>
  )
}
