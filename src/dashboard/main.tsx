import { createRoot } from 'react-dom/client'
import { keepFocus } from './parts/keep-focus.ts'
import './parts/style.css'
import './shell/shell.css'
import { startLive } from './live/live.ts'
import { App } from './shell/app.tsx'
import { reloadOnOldBuild } from './shell/old-build.ts'
import { applyTheme } from './shell/theme.ts'

applyTheme()
reloadOnOldBuild()
startLive()
keepFocus()
createRoot(document.getElementById('app')!).render(<App />)
