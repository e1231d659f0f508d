import type { ReactNode } from 'react'
import type { Icon } from './icons.tsx'

export type Tone = 'bad' | 'good' | 'neutral' | 'warn'

/** A state in a word. The tone is never the only sign: there are words, and mostly an icon. */
export const Badge = ({
  tone = 'neutral',
  icon: Shape,
  children,
}: {
  tone?: Tone
  icon?: Icon
  children: ReactNode
}) => (
  <span className={`badge ${tone}`}>
    {Shape && <Shape size={12} />}
    {children}
  </span>
)
