import { Button, IconButton } from '../parts/button.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { CircleAlertIcon, CircleCheckIcon, XIcon } from '../parts/icons.tsx'
import { text as partsText } from '../parts/strings.ts'
import { dismiss, type Toast, useToasts } from '../parts/toast.ts'
import { text } from './strings.ts'

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
      <Button
        kind="ghost"
        onClick={() => {
          toast.action?.run()
          dismiss(toast.id)
        }}
      >
        {toast.action.label}
      </Button>
    )}
    <IconButton icon={XIcon} label={partsText.close} onClick={() => dismiss(toast.id)} />
  </li>
)

export const Toasts = () => (
  <section aria-label={text.notices}>
    <ul className="toasts">
      {useToasts().map((toast) => (
        <Notice key={toast.id} toast={toast} />
      ))}
    </ul>
  </section>
)
