import { Button, IconButton } from '../parts/button.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { CircleAlertIcon, CircleCheckIcon, XIcon } from '../parts/icons.tsx'
import { text as partsText } from '../parts/strings.ts'
import { dismiss, type Toast, useToasts } from '../parts/toast.ts'
import { useKeys } from '../screen/keys.ts'
import { Keys } from './key-help.tsx'
import { text } from './strings.ts'

const act = ({ id, action }: Toast): void => {
  action?.run()
  dismiss(id)
}

const Notice = ({ toast }: { toast: Toast }) => (
  <li className={`toast ${toast.kind}`}>
    {toast.kind === 'failure' ? <CircleAlertIcon /> : <CircleCheckIcon />}
    <div role={toast.kind === 'failure' ? 'alert' : 'status'}>
      <p>{toast.text}</p>
      {toast.requestId && (
        <p className="hint">
          {text.requestId(toast.requestId)} <CopyButton value={toast.requestId} what={text.copyRequestId} />
        </p>
      )}
    </div>
    {toast.action && (
      <Button kind="ghost" onClick={() => act(toast)}>
        {toast.action.label}
        {toast.action.keys && <Keys keys={toast.action.keys} />}
      </Button>
    )}
    <IconButton icon={XIcon} label={partsText.close} onClick={() => dismiss(toast.id)} />
  </li>
)

/** The keys of the notices: of two with the same key, the later one has it. */
const useToastKeys = (toasts: readonly Toast[]): void =>
  useKeys(
    toasts.toReversed().flatMap((toast) => {
      const { keys, label } = toast.action ?? {}
      return keys && label ? [{ keys, label, group: 'any', run: () => act(toast) } as const] : []
    }),
  )

export const Toasts = () => {
  const toasts = useToasts()
  useToastKeys(toasts)
  return (
    <section aria-label={text.notices}>
      <ul className="toasts">
        {toasts.map((toast) => (
          <Notice key={toast.id} toast={toast} />
        ))}
      </ul>
    </section>
  )
}
