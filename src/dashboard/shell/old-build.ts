const KEY = 'ams-reloaded'
/** A second failure within this time has another cause than an upgrade. */
const AGAIN_MS = 60_000

/**
 * After an upgrade of the service, parts of the application that this page has not loaded yet are gone: their
 * names contain a hash. Reloads the page then, at its present address.
 */
export const reloadOnOldBuild = (): void => {
  addEventListener('vite:preloadError', (event) => {
    const last = Number(sessionStorage.getItem(KEY) ?? 0)
    if (Date.now() - last < AGAIN_MS) return
    event.preventDefault()
    sessionStorage.setItem(KEY, String(Date.now()))
    location.reload()
  })
}
