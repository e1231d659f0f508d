/** What a number field contains for a value that may be left out, and the reverse. */
export const toField = (value: number | null): string => (value === null ? '' : String(value))
export const toNumber = (field: string): number | null => (field === '' ? null : Number(field))
