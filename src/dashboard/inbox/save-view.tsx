import { useState } from 'react'
import { graphql } from '../live/graphql.ts'
import { useAction } from '../live/use.ts'
import { IconButton } from '../parts/button.tsx'
import { FormDialog } from '../parts/dialog/form-dialog.tsx'
import { Field } from '../parts/form/field.tsx'
import { BookmarkCheckIcon, BookmarkIcon } from '../parts/icons.tsx'
import { useViewer } from '../screen/viewer.tsx'
import { text } from './strings.ts'
import type { List } from './use-list.ts'

const SAVE = graphql(`
  mutation SaveViews($input: UpdateOwnMemberInput!) { updateOwnMember(input: $input) { member { id } } }
`)

/** The member's own searches, and how they are replaced. */
const useViews = () => {
  const { views } = useViewer()
  const { run, busy } = useAction(SAVE, { changes: { topic: 'members' } })
  const replace = (next: readonly { name: string; path: string }[]) =>
    run({ input: { views: next.map(({ name, path }) => ({ name, path })) } })
  return {
    views,
    busy,
    add: (name: string, path: string) => replace([...views, { name, path }]),
    remove: (path: string) => replace(views.filter((view) => view.path !== path)),
  }
}

const NameDialog = ({ path, onClose }: { path: string; onClose(): void }) => {
  const { add, busy } = useViews()
  const [name, setName] = useState('')
  const submit = async () => {
    if (await add(name.trim(), path)) onClose()
  }
  return (
    <FormDialog title={text.saveView} label={text.save} onClose={onClose} onSubmit={submit} busy={busy}>
      <Field
        label={text.viewName}
        hint={text.viewHint}
        value={name}
        onChange={({ target }) => setName(target.value)}
        maxLength={60}
        required
        autoFocus
        autoComplete="off"
      />
    </FormDialog>
  )
}

/** Keeps the present search in the sidebar, or takes it out. */
export const SaveView = ({ list }: { list: List }) => {
  const { views, remove } = useViews()
  const [naming, setNaming] = useState(false)
  const path = list.hrefOf()
  if (list.query === '') return null
  const isSaved = views.some((view) => view.path === path)
  return (
    <>
      <IconButton
        icon={isSaved ? BookmarkCheckIcon : BookmarkIcon}
        label={isSaved ? text.removeView : text.saveView}
        onClick={() => (isSaved ? void remove(path) : setNaming(true))}
      />
      {naming && <NameDialog path={path} onClose={() => setNaming(false)} />}
    </>
  )
}
