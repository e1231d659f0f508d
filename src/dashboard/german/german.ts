/** The words of all folders in German, as `words` names them. */
export const GERMAN = {}
