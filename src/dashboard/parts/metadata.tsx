/** Values that programs keep with something, by their keys. */
export const Metadata = ({ of, label }: { of: Record<string, unknown>; label: string }) => {
  const entries = Object.entries(of)
  if (entries.length === 0) return null
  return (
    <dl className="metadata" aria-label={label}>
      {entries.map(([key, value]) => (
        <div key={key}>
          <dt dir="auto">{key}</dt>
          <dd dir="auto">{String(value)}</dd>
        </div>
      ))}
    </dl>
  )
}
