/** Returns the first of the encodings that an Accept-Encoding header allows; null for none. */
export const acceptedEncoding = <Encoding extends string>(
  accepted: string | undefined,
  encodings: readonly Encoding[],
): Encoding | null =>
  encodings.find((one) => new RegExp(`\\b${one}\\b(?!;q=0(?![.\\d]))`).test(accepted ?? '')) ?? null
