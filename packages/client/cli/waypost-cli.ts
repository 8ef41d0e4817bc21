#!/usr/bin/env node
import { runCommand } from './run-command.ts'

// `Map.groupBy` came with Node 21 and the code that computes scores uses it, but the package promises Node 20.3.
Map.groupBy ??= groupBy
process.exitCode = await runCommand(process.argv.slice(2))

function groupBy<Key, Item>(
  items: Iterable<Item>,
  keyOf: (item: Item, place: number) => Key,
): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>()
  let place = 0
  for (const item of items) {
    const key = keyOf(item, place++)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
