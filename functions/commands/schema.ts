import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toSchemaFiles } from '../../src/content/schemas.ts'
import { parseConfig } from '../ports/config.ts'

/** `npm run schema`: writes the JSON Schemas that let an editor complete and check content files. */
const folder = join(parseConfig(process.env).CONTENT_DIR, 'schema')
mkdirSync(folder, { recursive: true })
for (const { name, text } of toSchemaFiles()) {
  writeFileSync(join(folder, name), text)
  console.log(`wrote ${join(folder, name)}`)
}
