import { Button } from '../parts/button.tsx'
import { Copyable } from '../parts/copy.tsx'
import { Dialog } from '../parts/dialog/dialog.tsx'
import { text as partsText } from '../parts/strings.ts'
import { text } from './strings.ts'

/** A link to the page on which an address is set up with its provider. */
export const SetUpLink = ({ url, onClose }: { url: string; onClose(): void }) => (
  <Dialog
    wide
    title={text.setUpTitle}
    onClose={onClose}
    actions={
      <>
        <Button onClick={onClose}>{partsText.close}</Button>
        <a className="button primary" href={url} target="_blank" rel="noreferrer">
          {text.setUpOpen}
        </a>
      </>
    }
  >
    <p>{text.setUpHint}</p>
    <p>
      <Copyable value={url} what={text.setUpLink} />
    </p>
  </Dialog>
)
