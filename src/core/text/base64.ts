/** Whether a character is of base64 or its form for URLs, without the padding. Faster than an expression. */
export const isOfBase64 = (code: number): boolean =>
  (code >= 97 && code <= 122) ||
  (code >= 65 && code <= 90) ||
  (code >= 47 && code <= 57) ||
  code === 43 ||
  code === 45 ||
  code === 95
