import { Button, IconButton } from '../parts/button.tsx'
import { BanIcon, CheckIcon, ClockIcon, MailIcon, TagIcon, XIcon } from '../parts/icons.tsx'
import { text } from './strings.ts'
import { type RowTriage, useTriageKeys } from './use-row-triage.tsx'
import type { Rows } from './use-rows.ts'
import type { Selection } from './use-selection.ts'

/** More are not selected at once. */
const MOST_SELECTED = 1_000

interface BulkProps {
  rows: Rows
  selection: Selection
  triage: RowTriage
}

/** What can be done with the selected threads. While they are selected, the keys are for them. */
export const BulkBar = ({ rows, selection, triage }: BulkProps) => {
  const count = selection.rows.length
  const { busy } = triage
  useTriageKeys(triage)
  const selectMore = async () => selection.selectAll(await rows.loadUpTo(MOST_SELECTED))
  const isAll = count === rows.rows.length
  return (
    <div className="bulk" role="toolbar" aria-label={text.selected(count)}>
      <span>{text.selected(count)}</span>
      {isAll && rows.hasMore && count < MOST_SELECTED && (
        <Button kind="ghost" busy={rows.busy} onClick={() => void selectMore()}>
          {text.selectMore(MOST_SELECTED)}
        </Button>
      )}
      <span className="bulk-actions">
        <IconButton icon={CheckIcon} label={text.keys.done} hint="e" busy={busy} onClick={triage.done} />
        <IconButton icon={ClockIcon} label={text.snooze} hint="h" onClick={triage.snooze} />
        <IconButton icon={BanIcon} label={text.spam} hint="#" onClick={triage.spam} />
        <IconButton icon={MailIcon} label={text.markRead} hint="u" onClick={triage.read} />
        <IconButton icon={TagIcon} label={text.label} hint="l" onClick={triage.label} />
        <IconButton icon={XIcon} label={text.selectNone} hint="Esc" onClick={selection.clear} />
      </span>
    </div>
  )
}
