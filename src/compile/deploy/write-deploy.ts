import type { StaticFile } from '../../domain/wire/static-file.ts'
import type { ReleaseWriter } from '../files/release-writer.ts'
import { toHeaderRules, toRedirectRules } from './host-rules.ts'
import { toNginxRules } from './nginx-rules.ts'

/** Rules for the host that serves the files: nginx, or a static host that reads `_headers` and `_redirects`. */
export function writeDeploy(
  writer: ReleaseWriter,
  baseUrl: string,
  files: readonly StaticFile[],
): void {
  writer.write('nginx.conf', toNginxRules(baseUrl, files))
  writer.write('_headers', toHeaderRules(baseUrl, files))
  writer.write('_redirects', toRedirectRules(files))
}
