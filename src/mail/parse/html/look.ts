import type { Style, Variables } from './cascade.ts'
import { BLACK, type Colour, LINK, WHITE } from './colour.ts'

/** Appearance of text, and what its content inherits. */
export interface Look {
  /** In pixels. */
  size: number
  invisible: boolean
  /** Whether this is within SVG but outside of its text elements, where text is not painted. */
  unpainted: boolean
  opacity: number
  /** Background colour; null if unknown because of an image. */
  behind: Colour | null
  colour: Colour | null
  /** Colour of links, and of text outside of elements with a colour of their own. */
  link: Colour
  base: Colour | null
  /** Whether child elements are blocks, as in a flexible box. */
  blockifies: boolean
  /** Whether tables start with the page's font size and colour, as in pages without a doctype. */
  quirks: boolean
  inherited: Style
  variables: Variables
}

/** The default appearance of a page. */
export const PAGE: Look = {
  size: 16,
  invisible: false,
  unpainted: false,
  opacity: 1,
  behind: WHITE,
  colour: BLACK,
  link: LINK,
  base: BLACK,
  blockifies: false,
  quirks: false,
  inherited: new Map(),
  variables: new Map(),
}

/** Takes note of what people do not see of a mail, and of the links that they see. */
export interface Witness {
  /** A text that is left out. */
  hidden(text: string): void
  link(text: string, href: string): void
}

/** Takes note of something that may hide text from people, but cannot be evaluated. */
export type Doubt = (what: string, evenIfEmpty?: boolean) => void
