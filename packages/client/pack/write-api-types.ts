import { writeFileSync } from 'node:fs'
import { toApiTypeFiles } from './api-types-text.ts'

/** `npm run client:types`: the client's types, after a change of the interface. */
for (const { file, text } of toApiTypeFiles()) {
  writeFileSync(file, text)
  console.log(`wrote ${file}`)
}
