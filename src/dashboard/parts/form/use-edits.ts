import { useState } from 'react'

/**
 * The fields of a form for something that is saved and can change while the form is open: by its own save, and by
 * others. What was typed remains until it is what is saved, perhaps without the spaces around it.
 */
export const useEdits = <Saved extends Readonly<Record<string, string>>>(saved: Saved) => {
  const names: (keyof Saved)[] = Object.keys(saved)
  const [known, setKnown] = useState(saved)
  const [edits, setEdits] = useState<Partial<Saved>>({})
  if (names.some((name) => saved[name] !== known[name])) {
    setKnown(saved)
    const left = Object.entries(edits).filter(([name, value]) => value?.trim() !== saved[name])
    setEdits(Object.fromEntries(left) as Partial<Saved>)
  }
  const fields: Saved = { ...saved, ...edits }
  return {
    fields,
    edit: <Name extends keyof Saved>(name: Name, value: Saved[Name]): void =>
      setEdits((before) => ({ ...before, [name]: value })),
    isEdited: names.some((name) => fields[name] !== saved[name]),
  }
}
