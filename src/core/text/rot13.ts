/** Moves each letter of ASCII by 13 places, which is also the way back. */
export const rot13 = (text: string): string =>
  text.replace(/[a-z]/gi, (letter) => {
    const start = letter < 'a' ? 65 : 97
    return String.fromCharCode(((letter.charCodeAt(0) - start + 13) % 26) + start)
  })
