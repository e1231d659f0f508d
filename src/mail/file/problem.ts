/** Why a file has no text. The message follows the name of a field: "attachment: is encrypted …". */
export class FileProblem extends Error {
  override readonly name = 'FileProblem'
}

export const broken = (what: string): FileProblem => new FileProblem(`is broken: ${what}`)

export const encrypted = (): FileProblem =>
  new FileProblem('is encrypted: its text cannot be read without the password')

export const tooLarge = (what: string): FileProblem =>
  new FileProblem(`is too large to be read as text: ${what}`)

export const unsupported = (): FileProblem =>
  new FileProblem(
    'has no text that can be read. These files can be read: PDF, DOCX, XLSX, PPTX, ODT, ODS, ODP, RTF, HTML, CSV, EML, ICS, VCF, plain text, and ZIP as a list of its files',
  )
