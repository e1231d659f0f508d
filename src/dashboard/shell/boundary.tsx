import { Component, type ReactNode } from 'react'
import { Button } from '../parts/button.tsx'
import { CircleAlertIcon } from '../parts/icons.tsx'
import { Empty } from '../parts/states.tsx'
import { text } from './strings.ts'

/** Shows instead of a screen that threw; the frame around it goes on working. */
export class Boundary extends Component<{ children: ReactNode }, { broken: boolean }> {
  override state = { broken: false }

  static getDerivedStateFromError() {
    return { broken: true }
  }

  override render() {
    if (!this.state.broken) return this.props.children
    return (
      <div role="alert" className="page">
        <Empty icon={CircleAlertIcon} title={text.broken}>
          <p>{text.brokenHint}</p>
          <Button onClick={() => location.reload()}>{text.reload}</Button>
        </Empty>
      </div>
    )
  }
}
