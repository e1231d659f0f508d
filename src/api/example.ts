/** Ids and times in examples. */
export const ID = '0193a5c2-7c1e-7b3a-9f60-2d1c4e5f6a7b'
export const OTHER = '0193a5c2-9d20-7f4b-8a11-5e6f7a8b9c0d'
export const TIME = '2026-11-20T09:30:00.000Z'
export const LATER = '2026-11-27T09:30:00.000Z'
