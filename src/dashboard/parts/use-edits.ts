import { useState } from 'react'

/**
 * The fields of a form for something that is saved and can change while the form is open: by its own save, and by
 * others. A field whose saved value changes shows that; what was typed into other fields remains.
 */
export const useEdits = <Saved extends Readonly<Record<string, string>>>(saved: Saved) => {
  const names: (keyof Saved)[] = Object.keys(saved)
  const [known, setKnown] = useState(saved)
  const [edits, setEdits] = useState<Partial<Saved>>({})
  const changed = names.filter((name) => saved[name] !== known[name])
  if (changed.length > 0) {
    setKnown(saved)
    setEdits(
      Object.fromEntries(Object.entries(edits).filter(([name]) => !changed.includes(name))) as Partial<Saved>,
    )
  }
  const fields: Saved = { ...saved, ...edits }
  return {
    fields,
    edit: <Name extends keyof Saved>(name: Name, value: Saved[Name]): void =>
      setEdits((before) => ({ ...before, [name]: value })),
    isEdited: names.some((name) => fields[name] !== saved[name]),
  }
}
