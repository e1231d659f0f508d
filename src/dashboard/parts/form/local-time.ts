const MINUTE = 60_000

/** A time as the value of an `<input type="datetime-local">`, in the browser's time zone. */
export const toInput = (time: Date): string =>
  new Date(time.getTime() - time.getTimezoneOffset() * MINUTE).toISOString().slice(0, 16)
