declare module 'punycode.js' {
  const punycode: { decode(text: string): string; encode(text: string): string }
  export = punycode
}
