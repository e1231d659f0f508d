import { useState } from 'react'

export const THEMES = ['system', 'light', 'dark'] as const
type Theme = (typeof THEMES)[number]

const KEY = 'ams-theme'

const stored = (): Theme => THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? 'system'

/** The style follows `color-scheme`, which the system decides unless the member did. */
export const applyTheme = (): void => {
  const theme = stored()
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

export const useTheme = (): [Theme, (theme: Theme) => void] => {
  const [theme, setTheme] = useState(stored)
  const choose = (next: Theme) => {
    localStorage.setItem(KEY, next)
    setTheme(next)
    applyTheme()
  }
  return [theme, choose]
}
