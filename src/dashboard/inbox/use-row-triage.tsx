import { type ReactNode, useState } from 'react'
import { LabelDialog } from '../parts/dialog/label-dialog.tsx'
import { type Binding, useKeys } from '../screen/keys.ts'
import type { Row } from '../triage/row.ts'
import { SnoozeDialog } from '../triage/snooze.tsx'
import { useTriage } from '../triage/use-triage.ts'
import { text } from './strings.ts'
import type { Cursor } from './use-cursor.ts'
import type { Selection } from './use-selection.ts'

export interface RowTriage {
  busy: boolean
  done(): void
  snooze(): void
  spam(): void
  read(): void
  label(): void
  /** The dialogs that are open. */
  dialogs: ReactNode
}

/** What is done with the selected rows, or with the one that the cursor is on. */
export const useRowTriage = (cursor: Cursor, selection: Selection): RowTriage => {
  const triage = useTriage()
  const [busy, setBusy] = useState(false)
  /** What is asked, and for which rows, which stay these whatever the list does meanwhile. */
  const [asking, setAsking] = useState<{ what: 'label' | 'snooze'; rows: readonly Row[] } | null>(null)
  const here = selection.rows.length > 0 ? selection.rows : cursor.row ? [cursor.row] : []
  const chosen = asking?.rows ?? here
  const run = async (act: (rows: readonly Row[]) => Promise<boolean>): Promise<boolean> => {
    if (chosen.length === 0) return false
    setBusy(true)
    selection.clear()
    const isDone = await act(chosen)
    setBusy(false)
    return isDone
  }
  /** Goes on at once: the next key is meant for the next row. */
  const leave = (act: (rows: readonly Row[]) => Promise<boolean>) => {
    cursor.leave(chosen)
    void run(act)
  }
  const ask = (what: 'label' | 'snooze') => chosen.length > 0 && setAsking({ what, rows: chosen })
  return {
    busy,
    done: () => leave(chosen.every(({ doneAt }) => doneAt) ? triage.reopen : triage.done),
    snooze: () => ask('snooze'),
    spam: () => leave(triage.spam),
    read: () =>
      void run((rows) =>
        triage.markRead(
          rows,
          rows.some(({ isUnread }) => isUnread),
        ),
      ),
    label: () => ask('label'),
    dialogs: (
      <>
        {asking?.what === 'label' && (
          <LabelDialog
            onAdd={(label) => run((rows) => triage.label(rows, label))}
            onClose={() => setAsking(null)}
          />
        )}
        {asking?.what === 'snooze' && (
          <SnoozeDialog
            onSnooze={(until) => {
              setAsking(null)
              leave((rows) => triage.snooze(rows, until))
            }}
            onWake={
              chosen.every(({ snoozedUntil }) => snoozedUntil)
                ? () => {
                    setAsking(null)
                    leave(triage.reopen)
                  }
                : undefined
            }
            onClose={() => setAsking(null)}
          />
        )}
      </>
    ),
  }
}

/** The keys for what is done with rows. */
export const useTriageKeys = ({ done, snooze, spam, read, label }: RowTriage): void => {
  const keys: [string, string, () => void][] = [
    ['e', text.keys.done, done],
    ['h', text.keys.snooze, snooze],
    ['#', text.keys.spam, spam],
    ['u', text.keys.read, read],
    ['l', text.keys.label, label],
  ]
  useKeys(keys.map(([key, words, run]): Binding => ({ keys: key, label: words, group: 'list', run })))
}
