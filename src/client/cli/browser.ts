import { spawn } from 'node:child_process'

/** The program that opens a URL in the user's browser, with its arguments. */
const opener = (url: string, env: NodeJS.ProcessEnv): [string, string[]] => {
  if (env.BROWSER) return [env.BROWSER, [url]]
  if (process.platform === 'darwin') return ['open', [url]]
  // `start` would take `&` for the end of a command.
  if (process.platform === 'win32') return ['rundll32', ['url.dll,FileProtocolHandler', url]]
  return ['xdg-open', [url]]
}

/** Tries to open a URL in the user's browser. There may be none: the URL must be printed too. */
export const openBrowser = (url: string, env: NodeJS.ProcessEnv = process.env): void => {
  const [program, args] = opener(url, env)
  const child = spawn(program, args, { stdio: 'ignore', detached: true })
  child.on('error', () => undefined)
  child.unref()
}
