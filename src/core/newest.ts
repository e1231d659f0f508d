/** Sets an entry of a map as its newest one. With more than `max`, the oldest is dropped. */
export const setNewest = <Key, Value>(map: Map<Key, Value>, key: Key, value: Value, max: number): void => {
  map.delete(key)
  map.set(key, value)
  if (map.size > max) map.delete(map.keys().next().value!)
}
