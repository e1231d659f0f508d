/** Version 1-8 and variant 8, 9, a or b; or the nil UUID; or the all-f UUID. In either case. */
export const UUID =
  /^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}|0{8}-(0{4}-){3}0{12}|[fF]{8}-([fF]{4}-){3}[fF]{12})$/
